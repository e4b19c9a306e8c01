/** The file of --endpoints. */
import { readFile } from "node:fs/promises";
import type { EndpointText } from "../../src/clients/agent/index";

export function endpointFile(path: string): EndpointText {
  return { name: path, read: () => readFile(path, "utf8") };
}
