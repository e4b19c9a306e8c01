/** The file of --endpoints. */
import { readFile } from "node:fs/promises";
import type { EndpointText } from "../../src/agent/endpoints/machine-ports";

export function endpointFile(path: string): EndpointText {
  return { name: path, read: () => readFile(path, "utf8") };
}
