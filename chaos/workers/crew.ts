/**
 * The worker processes, as the runner commands them and the nemesis strikes them. They go from stage to stage: code
 * that has run for a while is several times faster.
 *
 * A process that dies is replaced by a new one that joins the storm under way. Its name is new, too: what the dead one
 * held stays the dead one's.
 */
import { fileURLToPath } from 'node:url';
import type { Recorder } from '../../src/testing/history/recorder.ts';
import { startChild, type TestChild } from '../../tests/harness/child-process.ts';
import { CAN_SHIFT, type MovableClock, movableClock } from '../../tests/harness/clock-shim.ts';
import type { Victim } from '../fault.ts';
import type { Farewell, Order, Post, StormOrder, Way, WorkerSettings } from './settings.ts';

const SCRIPT = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const WAYS: readonly Way[] = ['connect', 'ioredis', 'node-redis', 'connect'];

export interface CrewSettings {
  readonly processes: number;
  readonly workers: number;
  readonly witness: string;
}

class Member implements Victim {
  readonly proc: string;
  readonly child: TestChild;
  /** It has connected where it was sent. */
  ready: Promise<unknown> = Promise.resolve();
  readonly clock: MovableClock | undefined;
  /** A kill that was ordered is recorded; any other end is the run's fault. */
  isExpectedToEnd = false;

  constructor(
    settings: WorkerSettings,
    hasMovableClock: boolean,
    private readonly onEnded: (member: Member) => void,
  ) {
    this.proc = settings.proc;
    this.clock = hasMovableClock ? movableClock() : undefined;
    const env = this.clock?.env ?? {};
    this.child = startChild(SCRIPT, { args: [JSON.stringify(settings)], env });
    void this.child.exited.then(() => {
      this.onEnded(this);
      return this.clock?.close();
    });
  }

  get pid(): number {
    return this.child.pid;
  }

  order(order: Order): void {
    this.child.send({ ...order });
  }

  join(post: Post): void {
    this.order({ order: 'join', ...post });
    this.ready = this.child.next(({ joined }) => joined === true);
    this.ready.catch(() => {});
  }

  async kill(): Promise<void> {
    this.isExpectedToEnd = true;
    this.child.kill('SIGKILL');
    await this.child.exited;
  }

  async end(how: 'sigterm' | 'exit' | 'uncaught'): Promise<void> {
    this.isExpectedToEnd = true;
    if (how === 'sigterm') this.child.kill('SIGTERM');
    else this.order({ order: 'end', how });
    await this.child.exited;
  }

  stop(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  block(ms: number): void {
    this.order({ order: 'block', ms });
  }
}

export class Crew {
  /** Ends that nothing ordered, and what workers saw broken. */
  readonly broken: string[] = [];
  readonly #settings: CrewSettings;
  #members: Member[] = [];
  #started = 0;
  #post: Post | undefined;
  #storm: StormOrder | undefined;
  #recorder: Recorder | undefined;
  #isClosing = false;

  constructor(settings: CrewSettings) {
    this.#settings = settings;
    for (let index = 0; index < settings.processes; index += 1) this.#add();
  }

  /** Sends everyone to a stage. */
  async join(post: Post): Promise<void> {
    this.#post = post;
    for (const member of this.#members) member.join(post);
    await this.#whenReady();
  }

  /** Those that live now. */
  get victims(): readonly Victim[] {
    return this.#members;
  }

  /** Sends everyone to work. Deaths are recorded by the runner's recorder, since the dead cannot. */
  async storm(order: StormOrder, recorder: Recorder): Promise<void> {
    this.#storm = order;
    this.#recorder = recorder;
    await this.#whenReady();
    for (const member of this.#members) member.order(order);
  }

  /** Ends the storm; resolves when the last visit is over. */
  async calm(): Promise<void> {
    this.#storm = undefined;
    for (const member of this.#members) member.resume();
    await Promise.all(
      this.#members.map(async (member) => {
        await member.ready;
        member.order({ order: 'calm' });
        const { broken } = await member.child.next(({ calm }) => calm === true);
        this.#note(member, broken as string[]);
      }),
    );
  }

  /** Everyone closes its client, and says what that left behind. */
  async leave(): Promise<void> {
    this.#post = undefined;
    await Promise.all(this.#members.map((member) => this.#dismiss(member)));
  }

  /** Ends all processes at once, whatever they are doing. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#members.map((member) => member.kill()));
  }

  #add(): void {
    const { workers, witness } = this.#settings;
    const proc = `p${this.#started}`;
    const way = WAYS[this.#started % WAYS.length] as Way;
    // Clocks that can be moved are slower to read: half of the processes have them.
    const hasMovableClock = CAN_SHIFT && this.#started % 2 === 0;
    const passesOn = this.#started % 4 !== 1;
    this.#started += 1;
    const settings = { proc, way, passesOn, workers, witness };
    const member = new Member(settings, hasMovableClock, (ended) => this.#replace(ended));
    this.#members.push(member);
    if (this.#post === undefined) return;
    member.join(this.#post);
    void member.ready.then(
      () => this.#storm !== undefined && member.order(this.#storm),
      () => {},
    );
  }

  #replace(ended: Member): void {
    if (this.#isClosing) return;
    this.#recorder?.record({ proc: ended.proc, worker: '', key: '', op: 'died', type: 'info' });
    this.#members = this.#members.filter((member) => member !== ended);
    if (!ended.isExpectedToEnd) this.broken.push(`${ended.proc} ended by itself: ${ended.child.stderr}`);
    this.#add();
  }

  async #whenReady(): Promise<void> {
    await Promise.all(this.#members.map(({ ready }) => ready));
  }

  /** Asks a process to close its client, and looks at what keeps the process alive after that. */
  async #dismiss(member: Member): Promise<void> {
    member.resume();
    await member.ready;
    member.order({ order: 'leave' });
    const last = (await member.child.next(({ left }) => left === true)) as unknown as Farewell;
    this.#note(member, last.broken);
    if (last.resources.length > 0) this.broken.push(`${member.proc} leaks ${last.resources.join(', ')}`);
  }

  #note(member: Member, broken: readonly string[]): void {
    for (const text of broken) {
      const line = `${member.proc}: ${text}`;
      if (!this.broken.includes(line)) this.broken.push(line);
    }
  }
}
