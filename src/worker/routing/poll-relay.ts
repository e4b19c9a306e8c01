/** The watches by which polls of proxies hear of changes. They are no client's, so they stand in no figures of watches. */
import { systemClock, systemRandom } from "../../../durable-objects/platform/ports";
import { Relay } from "../../api/relay/relay";

/** One for each isolate. */
export const pollRelay = new Relay({ clock: systemClock, random: systemRandom() });
