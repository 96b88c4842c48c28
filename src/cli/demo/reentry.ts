/**
 * Scene: a lock is acquired again inside its own section, and the hash in Redis counts the entries.
 */
import { demand, type Scene } from './stage.ts';

const OWNER = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/;

export const reentry: Scene = {
  title: 'Re-entry',
  story: 'withLock() inside withLock(); the hash on the server counts the entries',
  async play(stage) {
    const name = stage.name('re-entry');
    const lock = (await stage.client()).getLock(name);
    const seen: string[] = [];
    let owner = '';
    const look = async (when: string) => {
      const [[field, value] = ['', 'key gone'], ...others] = Object.entries(await stage.redis.hgetall(name));
      demand(others.length === 0, `the hash has ${others.length + 1} fields`);
      seen.push(value);
      const content = field === '' ? value : `${field} = ${stage.screen.paint('cyan', value)}`;
      stage.note(`${when.padEnd(11)} HGETALL  ${content}`);
      return field;
    };

    await lock.withLock(async (hold) => {
      owner = await look('taken');
      demand(OWNER.test(owner), `the field "${owner}" is not <uuid>:<number>`);
      demand(owner === hold.owner, `the field "${owner}" is not the hold's owner ${hold.owner}`);
      await lock.withLock(async () => {
        demand((await look('taken again')) === owner, 're-entering changed the field');
      });
      demand((await look('left once')) === owner, 'leaving the inner section changed the field');
    });
    demand((await look('left')) === '', 'the key is still there');
    demand(seen.join() === '1,2,1,key gone', `the hold count went ${seen.join(' → ')}`);
    return [
      { label: 'hold count', value: seen.join(' → ') },
      { label: 'field', value: owner },
    ];
  },
};
