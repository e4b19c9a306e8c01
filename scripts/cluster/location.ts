/** Where a cluster that a program makes is to be: the option and its meaning. */
import { isLocation, type Location, LOCATIONS } from "../../src/core/config/location";
import { oneOf } from "../terminal/command-line";

/** Option for `parseArgs`. */
export const locationOption = { location: { type: "string" } } as const;

export const locationUsage = `  --location PLACE    where on Cloudflare a new cluster is (near this machine); one that is there never moves. PLACE is one of
                      ${LOCATIONS.join(", ")}`;

/** The place that the option names; undefined when it is not given. Throws UserError. */
export function locationNamed(text: string | undefined): Location | undefined {
  return text === undefined || isLocation(text) ? text : oneOf("--location", text, LOCATIONS);
}
