/**
 * Recognises clients of versions that are too old, so that the refusal can name the version and the one that is needed.
 *
 * No client tells its version. Each is judged by what only the old versions have, so that a future version is never
 * taken for one of them. The ranges of package.json do not refuse anything: they would make an installation fail for
 * a project that uses an old client for other work.
 */

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
