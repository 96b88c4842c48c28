/** Takes a multi lock over several servers, tells, and keeps it until it is killed. */
import { onOrder, tell } from '../../harness/in-child.ts';
import { openWay, type Place } from '../support/ways.ts';

export interface MultiLockHoldsSettings {
  readonly places: readonly Place[];
  readonly name: string;
  readonly options: object;
}

const { places, name, options } = JSON.parse(process.argv[2] as string) as MultiLockHoldsSettings;
const opened = await Promise.all(places.map((place) => openWay('Holdfast.connect', place, options)));
const locks = opened.map(({ client }, i) => client.getLock(`${name}:${i}`));
const hold = await opened[0]?.client.getMultiLock(...locks).lock();
tell({ held: hold?.owner });
onOrder(() => {});
