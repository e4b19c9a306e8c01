/**
 * Lists of 15,000 Services: whole, as a Table, and in chunks as `kubectl --chunk-size=500` asks for them. Then the cost of a list at resourceVersion 0
 * from the published copy, and from the store.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../test/support/server/server";
import { growthDuring } from "../memory";
import { PROTOBUF, type ReadList, readList } from "../read-list";
import { atMost, median, quantile, round } from "../figures";
import type { BenchRow } from "../row";
import { createServices, targetOf, withServer } from "../started";

const count = 15_000;
const chunk = 500;
const copiedCount = 5_000;
const copiedRounds = 15;
const publishedMsMax = 10_000;
const jsonMsMax = 1_000;
const growthMiBMax = 64;
const tableMsMax = 1_500;
const chunkedRatioMax = 2;
const firstPageMsMax = 50;
const rounds = 7;
const protobufPerSecondMin = 60_000;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface ListAnswer {
  metadata: { continue?: string };
  items?: unknown[];
  rows?: unknown[];
}

export function benchLists(): Promise<BenchRow[]> {
  return withServer("10.0.0.0/12", async (server) => {
    await createServices(server, { cluster: "default", connections: 100, count, prefix: "list", addressPrefixes: ["10."] });
    // Compiles the code; a page is too small to change the memory.
    for (const accept of [TABLE, PROTOBUF, "application/json"]) await read(server, `?limit=${String(chunk)}`, accept);
    const { result: json, growthMiB } = await growthDuring(server.runtimePid, () => read(server, "", "application/json"));
    const table = await read(server, "", TABLE);
    const protobuf = await readOften(server, "", PROTOBUF);
    const firstPage = await readOften(server, `?limit=${String(chunk)}`, "application/json");
    const { singleMs, chunkedMs } = await compare(server);
    const size = `${(json.body.length / 2 ** 20).toFixed(1)} MiB`;
    const rows: BenchRow[] = [
      atMost("lists.json", json.ms, "ms", jsonMsMax, `${String(count)} Services and default/kubernetes, ${size}, to the last byte`),
      atMost("lists.table", table.ms, "ms", tableMsMax),
      protobufRow(protobuf),
      atMost("lists.firstPage", firstPage.ms, "ms", firstPageMsMax, `the first ${String(chunk)}, median of ${String(rounds)}`),
      { name: "lists.chunked", value: Math.round(chunkedMs), unit: "ms", note: `${String(chunk)} at a time` },
      atMost(
        "lists.chunkedRatio",
        chunkedMs / singleMs,
        "x",
        chunkedRatioMax,
        `against the single list, medians of ${String(rounds)} in turn`,
      ),
    ];
    rows.push(...(await benchCopies(server)));
    if (growthMiB !== undefined) rows.push(atMost("lists.jsonGrowth", growthMiB, "MiB", growthMiBMax, "resident memory of the server"));
    return rows;
  });
}

/** The median time of a list, and its size. */
async function readOften(server: Server, query: string, accept: string): Promise<{ ms: number; bytes: number }> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const answer = await read(server, query, accept);
    times.push(answer.ms);
    bytes = answer.body.length;
  }
  return {
    ms: quantile(
      times.sort((a, b) => a - b),
      0.5,
    ),
    bytes,
  };
}

function protobufRow({ ms, bytes }: { ms: number; bytes: number }): BenchRow {
  const value = Math.round((count + 1) / (ms / 1000));
  const note = `${ms.toFixed(0)} ms to the last byte, ${(bytes / 2 ** 20).toFixed(1)} MiB, median of ${String(rounds)}`;
  return {
    name: "lists.protobuf",
    value,
    unit: "objects/s",
    target: `>= ${String(protobufPerSecondMin)}`,
    ok: value >= protobufPerSecondMin,
    note,
  };
}

/** Single list and chunked list in turn, so that both see the same machine; medians. */
async function compare(server: Server): Promise<{ singleMs: number; chunkedMs: number }> {
  const single: number[] = [];
  const chunked: number[] = [];
  for (let round = 0; round < rounds; round++) {
    single.push((await read(server, "", "application/json")).ms);
    chunked.push(await readInChunks(server));
  }
  return { singleMs: median(single), chunkedMs: median(chunked) };
}

/** Hits and lists from the store take turns, so that both see the same machine. */
async function benchCopies(server: Server): Promise<BenchRow[]> {
  await createServices(server, { cluster: "copied", connections: 100, count: copiedCount, prefix: "copied", addressPrefixes: ["10."] });
  const list = (query: string) => read(server, query, "application/json", "/clusters/copied");
  const deadline = performance.now() + publishedMsMax;
  while (!(await list("?resourceVersion=0")).source.startsWith("edge")) {
    if (performance.now() > deadline) throw new Error("no copy was published");
    await sleep(100);
  }
  const hits: number[] = [];
  const misses: number[] = [];
  for (let round = 0; round < copiedRounds; round++) {
    const hit = await list("?resourceVersion=0");
    const miss = await list("");
    if (!hit.source.startsWith("edge") || !miss.source.startsWith("owner")) throw new Error(`${hit.source} and ${miss.source}`);
    if (hit.body.length !== miss.body.length) throw new Error("the copy is another list");
    hits.push(hit.ms);
    misses.push(miss.ms);
  }
  const [hit, miss] = [hits, misses].map((times) =>
    quantile(
      times.sort((a, b) => a - b),
      0.5,
    ),
  );
  if (hit === undefined || miss === undefined) throw new Error("nothing was measured");
  return [
    {
      name: "lists.copyHit",
      value: round(hit),
      unit: "ms",
      note: `resourceVersion=0 of ${String(copiedCount)} Services out of the copy that the Worker holds, median`,
    },
    { name: "lists.copyMiss", value: round(miss), unit: "ms", note: "the same list from the store, median" },
    {
      name: "lists.copyRatio",
      value: round(hit / miss),
      unit: "x",
      note: "hit against store; a hit takes nothing of the store's thread",
    },
  ];
}

async function readInChunks(server: Server): Promise<number> {
  let total = 0;
  let seen = 0;
  for (let token = ""; ;) {
    const { ms, body } = await read(
      server,
      `?limit=${String(chunk)}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`,
      "application/json",
    );
    total += ms;
    const answer = JSON.parse(body.toString()) as ListAnswer;
    seen += answer.items?.length ?? 0;
    token = answer.metadata.continue ?? "";
    if (token === "") break;
  }
  if (seen !== count + 1) throw new Error(`the chunks held ${String(seen)} Services`);
  return total;
}

function read(server: Server, query: string, accept: string, prefix = ""): Promise<ReadList> {
  return readList(targetOf(server), `${prefix}/api/v1/services${query}`, accept);
}
