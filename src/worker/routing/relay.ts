/** The watches of this isolate. */
import { systemClock, systemRandom } from "../../../durable-objects/platform/ports";
import { Relay } from "../../api/relay/relay";

/** One for each isolate. */
export const relay = new Relay({ clock: systemClock, random: systemRandom() });
