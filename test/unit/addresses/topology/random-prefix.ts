import type { Random } from "../../../../src/core/base/ports";
import { prefixAround, type Prefix } from "../../../../src/core/net/prefix";

/** A prefix inside a space of 256 addresses of either family, so that overlaps of every kind are common. */
export function randomPrefix(random: Random): Prefix {
  const hostBits = random.below(7);
  const offset = random.belowBig(256n);
  return random.below(2) === 0
    ? prefixAround("IPv4", 0x0a000000n + offset, 32 - hostBits)
    : prefixAround("IPv6", (0xfdn << 120n) + offset, 128 - hostBits);
}
