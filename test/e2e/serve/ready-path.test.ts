import { expect, it } from "vitest";
import { readyPath } from "../../../scripts/serve/ready-path";

it.each([
  ["for half a minute", 29_999, "/readyz"],
  ["longer", 30_000, "/readyz?exclude=poststarthook/start-service-ip-repair-controllers"],
])("a server that is not ready, %s: is asked with all checks, in the end without that of the first repair", (_, waitedMs, path) => {
  expect(readyPath(waitedMs)).toBe(path);
});
