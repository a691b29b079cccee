// When memory goes back: plain JavaScript, tested without Wasm by `node --test`.

export const MIB = 2 ** 20;

/** Whether what is reserved but not in use should go back. */
export function worthIt(inUseBytes, reservedBytes, ratio, slackMib) {
  return reservedBytes > ratio * inUseBytes && reservedBytes - inUseBytes >= slackMib * MIB;
}
