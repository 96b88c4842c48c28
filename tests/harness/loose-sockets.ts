/** For a child process that has to find out whether anything but its sockets keeps it alive. */
import { Socket } from 'node:net';

/**
 * Watches every socket that is opened from now on. Answers how to let go of them: from then on no socket keeps the
 * process alive, neither those that are open nor those to come.
 */
export function watchSockets(): () => void {
  let open: Set<Socket> | undefined = new Set();
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    Reflect.apply(connect, this, args);
    open?.add(this) ?? this.unref();
    return this;
  } as typeof connect;
  return () => {
    for (const socket of open ?? []) socket.unref();
    open = undefined;
  };
}
