/**
 * Recognises clients of versions that are too old, so that the refusal can name the version and the one that is needed.
 *
 * No client tells its version. Each is judged by what only the old versions have, so that a future version is never
 * taken for one of them. An old iovalkey has nothing that ioredis 5 has not: its package tells. The ranges of package.json do not refuse anything: they would make an installation fail for
 * a project that uses an old client for other work.
 */
import { createRequire } from 'node:module';

interface OldVersion {
  readonly version: string;
  readonly needed: string;
  readonly isIt: (client: object) => boolean;
}

function has(client: object, ...methods: string[]): boolean {
  return methods.every((name) => typeof Reflect.get(client, name) === 'function');
}

/** Whether the client has an option that its user may not have set. */
function hasOption(client: object, name: string): boolean {
  const options: unknown = Reflect.get(client, 'options');
  return typeof options === 'object' && options !== null && name in options;
}

/**
 * Whether the class of this client comes from iovalkey before 0.3. Node.js keeps the modules that it has loaded; in a
 * bundle there are none to ask, and the client is taken.
 */
function isOldIovalkey(client: object): boolean {
  // Any absolute path will do: the cache is one for the whole process.
  const { cache } = createRequire(process.execPath);
  const entries = Object.keys(cache ?? {}).filter((file) =>
    /iovalkey[^/\\]*[/\\]built[/\\]index\.js$/.test(file),
  );
  return entries.some((file) => {
    const { Redis, Cluster } = (cache[file]?.exports ?? {}) as Record<string, unknown>;
    const isIts = [Redis, Cluster].some((one) => typeof one === 'function' && client instanceof one);
    if (!isIts) return false;
    const { name, version } = createRequire(file)('../package.json') as { name: string; version: string };
    return name === 'iovalkey' && /^0\.[012]\./.test(version);
  });
}

const OLD_VERSIONS: readonly OldVersion[] = [
  {
    version: 'ioredis 4 or older',
    needed: 'ioredis 5',
    // A default up to version 4; later versions have it only if the user set it.
    isIt: (client) =>
      has(client, 'sendCommand', 'callBuffer') &&
      hasOption(client, 'showFriendlyErrorStack') &&
      !has(client, 'createScanStream'),
  },
  {
    version: 'iovalkey before 0.3',
    needed: 'iovalkey 0.3',
    isIt: (client) => has(client, 'sendCommand', 'callBuffer') && isOldIovalkey(client),
  },
  {
    version: 'node-redis (redis) 4',
    needed: 'redis 5',
    isIt: (client) => has(client, 'sendCommand', 'commandsExecutor') && !has(client, 'destroy'),
  },
  {
    version: 'node-redis (redis) 3 or older',
    needed: 'redis 5',
    isIt: (client) => has(client, 'send_command', 'internal_send_command'),
  },
  {
    version: 'Valkey GLIDE before 2.3',
    needed: '@valkey/valkey-glide 2.3',
    isIt: (client) => {
      const glide: unknown = has(client, 'customCommand') ? client : Reflect.get(client, 'client');
      return (
        typeof glide === 'object' &&
        glide !== null &&
        has(glide, 'customCommand', 'invokeScript') &&
        !has(glide, 'getSubscriptions')
      );
    },
  },
];

/** The refusal of a client that is too old; undefined for any other. */
export function refusalOfOld(client: object): string | undefined {
  const old = OLD_VERSIONS.find(({ isIt }) => isIt(client));
  return old && `This is a client of ${old.version}; Holdfast.from needs ${old.needed} or newer`;
}
