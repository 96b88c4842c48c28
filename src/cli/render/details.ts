/**
 * One description, with everything that is known, over several lines.
 */
import type { Description, HolderInfo, OwnerInfo } from '../../inspect/description.ts';
import { holdersOf, permitsOf, waitersOf } from '../../inspect/reading.ts';
import { detailsOf, kindOf } from './listing.ts';
import { printable } from './printable.ts';
import { padded } from './style.ts';
import { lasting, moment } from './time.ts';

const LABEL_WIDTH = 9;

function line(label: string, text: string): string {
  return `  ${padded(label, LABEL_WIDTH)} ${text}`.trimEnd();
}

/** Who it is: the label with host and process, and the field in Redis. */
export function ownerText({ client, owner }: OwnerInfo): string {
  if (client === null) return printable(owner);
  const place = `${client.host}:${client.pid}`;
  const where = client.label === place ? '' : ` at ${place}`;
  return printable(`${client.label}${where}, ${owner}`);
}

function heldText(leftMs: number, since: Date | null): string {
  const left = leftMs === Number.POSITIVE_INFINITY ? 'no expiry' : `${lasting(leftMs)} left`;
  return since === null ? left : `${left}, since ${moment(since)}`;
}

function holderText(holder: HolderInfo): string {
  return `${ownerText(holder)} (${heldText(holder.remainingMs, holder.heldSince)})`;
}

/** @param name how the user calls it */
export function details(name: string, found: Description): string[] {
  const more = detailsOf(found);
  return [
    printable(name),
    ...(found.key === name ? [] : [line('key', printable(found.key))]),
    line('kind', kindOf(found)),
    ...(more === '' ? [] : [line('state', more)]),
    ...holdersOf(found).map((holder) => line('holder', holderText(holder))),
    ...permitsOf(found).map(({ id, remainingMs, heldSince }) =>
      line('permit', `${printable(id)} (${heldText(remainingMs, heldSince)})`),
    ),
    ...waitersOf(found).map((waiter, index) => line(`waiter ${index + 1}`, ownerText(waiter))),
  ];
}
