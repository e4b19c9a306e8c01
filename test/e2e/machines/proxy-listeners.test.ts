/** Listeners of the proxy that close and open again. */
import { expect, it } from "vitest";
import { Listeners } from "../../../scripts/proxy/listeners";
import type { Opened } from "../../../scripts/proxy/opened";
import type { Listener } from "../../../src/clients/proxy/proxy-table";

const listener: Listener = { key: "127.0.0.1:53/UDP", protocol: "UDP", address: "127.0.0.1", port: 53 };
const NOTHING = { opened: [], closed: [], changed: [] };

it("a listener that is opened again while clients are under way: its clients are looked at once more", async () => {
  const calls: string[] = [];
  const opened: Opened = {
    hasEnded: false,
    close: () => void calls.push("close"),
    resume: () => calls.push("resume") > 0,
    review: () => void calls.push("review"),
    destroy: () => undefined,
  };
  const listeners = new Listeners({ open: () => Promise.resolve(opened), lowPortOffset: 0, log: () => undefined });
  await listeners.apply({ ...NOTHING, opened: [listener] });
  await listeners.apply({ ...NOTHING, closed: [listener] });
  await listeners.apply({ ...NOTHING, opened: [listener] });
  expect(calls).toEqual(["close", "resume", "review"]);
  listeners.stop();
});
