import { describe, expect, it } from "vitest";
import { healthFamilies } from "../../../../src/proxy-health/health-families";
import type { AnswerCounts, HealthTally } from "../../../../src/proxy-health/pushed/health-tally";
import { HealthBooks } from "../../../../src/proxy-health/pushed/health-books";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const NODES = { healthy: 2, late: 1, silent: 0 };
const told = (life: number, ok: number, more: AnswerCounts = {}): HealthTally => ({
  life,
  answers: { "/healthz 200": ok, ...more },
  nodes: NODES,
});

/** What the books say of `/healthz 200` after each message, kept over a restart of the controller. */
function after(...messages: [shard: number, tally: HealthTally][]): (number | undefined)[] {
  const storage = new MemoryRowStorage();
  return messages.map(([shard, tally]) => {
    new HealthBooks(storage).add(shard, tally);
    return new HealthBooks(storage).counts.answers["/healthz 200"];
  });
}

describe("counts of checks", () => {
  it.each<[string, [number, HealthTally][], number[]]>([
    [
      "a running total: counts once",
      [
        [0, told(1, 5)],
        [0, told(1, 8)],
      ],
      [5, 8],
    ],
    [
      "the same message twice: counts once",
      [
        [0, told(1, 5)],
        [0, told(1, 5)],
      ],
      [5, 5],
    ],
    [
      "an older message of the same life: changes nothing",
      [
        [0, told(1, 8)],
        [0, told(1, 5)],
      ],
      [8, 8],
    ],
    [
      "a later life: is added to those before",
      [
        [0, told(1, 5)],
        [0, told(2, 1)],
        [0, told(2, 3)],
        [0, told(7, 1)],
      ],
      [5, 6, 8, 9],
    ],
    [
      "a late message of an earlier life: changes nothing",
      [
        [0, told(1, 5)],
        [0, told(2, 1)],
        [0, told(1, 9)],
      ],
      [5, 6, 6],
    ],
    [
      "several shards: are added",
      [
        [0, told(1, 5)],
        [9, told(1, 2)],
        [9, told(2, 2)],
      ],
      [5, 7, 9],
    ],
  ])("%s", (_, messages, expected) => {
    expect(after(...messages)).toEqual(expected);
  });

  it("families: a series for each code that occurred, for each state of nodes, and for each family that a node reports", () => {
    const books = new HealthBooks(new MemoryRowStorage());
    books.add(3, {
      ...told(1, 5, { "/healthz 503": 2, "/livez 503": 1 }),
      families: { IPv4: { late: 1, queuedSince: 7_000, syncedAt: 3_500 } },
    });
    books.add(4, { ...told(1, 1), families: { IPv4: { late: 2, syncedAt: 1_000 }, IPv6: { late: 0 } } });
    // As an object of the release before tells.
    books.add(5, { ...told(1, 0), nodes: { healthy: 0, late: 0, silent: 0 } });
    const shown = healthFamilies(books.counts).map(({ name, samples }) => [
      name,
      samples.map(({ labels, value }) => [...Object.values(labels), value]),
    ]);
    expect(shown).toEqual([
      [
        "kubeproxy_proxy_healthz_total",
        [
          ["200", 6],
          ["503", 2],
        ],
      ],
      ["kubeproxy_proxy_livez_total", [["503", 1]]],
      [
        "servicenet_proxy_health_nodes",
        [
          ["healthy", 4],
          ["late", 2],
          ["silent", 0],
        ],
      ],
      [
        "servicenet_proxy_health_late_nodes",
        [
          ["IPv4", 3],
          ["IPv6", 0],
        ],
      ],
      ["servicenet_proxy_health_oldest_queued_timestamp_seconds", [["IPv4", 7]]],
      ["servicenet_proxy_health_oldest_sync_timestamp_seconds", [["IPv4", 1]]],
    ]);
    expect(healthFamilies(undefined).map(({ samples }) => samples.length)).toEqual([0, 0, 0, 0, 0, 0]);
  });
});
