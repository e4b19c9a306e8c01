/** Refusals leave their connections usable also where the body has megabytes, within the bound of the API and above it. */
import { bytes, FRAMINGS, type NamedBody, refusedWith } from "../../../support/clients/refused-requests";

refusedWith(
  FRAMINGS.flatMap((framing): NamedBody[] => [
    [`a large ${framing} body`, { framing, bytes: bytes(2_000_000) }],
    [`a ${framing} body above the limit`, { framing, bytes: bytes(4_000_000) }],
  ]),
);
