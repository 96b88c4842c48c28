/** The attributes of spans and metrics. Their names are part of the public interface. */
import type { Attributes } from '@opentelemetry/api';
import type { Subject } from '../../channels.ts';
import type { Labels } from '../metrics/groups.ts';

/** Of every span: what it is about. */
export function attributesOf({ clientId, label, kind, name }: Subject): Attributes {
  return {
    'db.system.name': 'redis',
    'holdfast.name': name,
    'holdfast.kind': kind,
    'holdfast.client.id': clientId,
    'holdfast.client.label': label,
  };
}

/** Of metrics: never a name, since names have no bound. */
export function attributesOfLabels({ group, kind }: Labels): Attributes {
  return { 'holdfast.group': group, 'holdfast.kind': kind };
}

/** The value of `error.type`: a code where the error has one. */
export function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  return typeof name === 'string' ? name : 'Error';
}
