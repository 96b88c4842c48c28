/** Tasks of one process that take a lock one after the other; tells by how many owner fields: `<place as JSON> <name>`. */
import { onOrder, tell } from '../../harness/in-child.ts';
import { openWay, type Place } from '../support/ways.ts';

const TASKS = 100;

const [place = '', name = ''] = process.argv.slice(2);
const { client } = await openWay('Holdfast.connect', JSON.parse(place) as Place);
const lock = client.getLock(name);
onOrder(() => {});

const fields = new Set<string>();
const turns = Array.from({ length: TASKS }, () => lock.withLock(({ owner }) => fields.add(owner)));
await Promise.all(turns);
tell({ tasks: TASKS, fields: fields.size });
