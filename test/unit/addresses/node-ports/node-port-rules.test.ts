import { describe, expect, it } from "vitest";
import { judgeNodePorts, type RowOwner } from "../../../../src/addresses/node-ports/node-port-rules";
import { type HeldNodePort, nodePortText } from "../../../../src/api/registry/services/held-by-service";

function held(...texts: string[]): HeldNodePort[] {
  return texts.map((text) => {
    const [protocol = "", port = ""] = text.split("/");
    return { protocol, port: Number(port) };
  });
}

/** Whose the rows are, by `TCP/30080`; the others are the Service's own. */
type Rows = Record<string, RowOwner>;

describe("judgeNodePorts", () => {
  it.each<[string, string[], Rows, string[], string[]]>([
    ["no node ports", [], {}, [], []],
    ["rows of its own", ["TCP/30080", "UDP/30080", "TCP/30443"], {}, [], []],
    ["no row", ["TCP/30080"], { "TCP/30080": "none" }, ["30080 repair"], ["TCP/30080"]],
    ["a row that names a Service without the port", ["TCP/30080"], { "TCP/30080": "lost" }, ["30080 repair"], ["TCP/30080"]],
    [
      "no row of either protocol of a number",
      ["TCP/30053", "UDP/30053"],
      { "TCP/30053": "none", "UDP/30053": "none" },
      ["30053 repair"],
      ["TCP/30053", "UDP/30053"],
    ],
    ["no row of one protocol of a number", ["TCP/30053", "UDP/30053"], { "UDP/30053": "none" }, ["30053 repair"], ["UDP/30053"]],
    ["a row of another Service that holds the port", ["TCP/30080"], { "TCP/30080": "other" }, ["30080 duplicate"], []],
    [
      "another Service's row of one protocol, and none of the other",
      ["TCP/30053", "UDP/30053"],
      { "TCP/30053": "other", "UDP/30053": "none" },
      ["30053 repair", "30053 duplicate"],
      ["UDP/30053"],
    ],
    ["a row of a Service that cannot be read", ["TCP/30080"], { "TCP/30080": "unreadable" }, ["30080 unknown"], []],
    ["a number twice with one protocol", ["TCP/30080", "TCP/30080"], {}, ["30080 duplicate"], []],
    ["a number twice and no row", ["TCP/30080", "TCP/30080"], { "TCP/30080": "none" }, ["30080 repair", "30080 duplicate"], ["TCP/30080"]],
    ["the health check's number, which a UDP port has", ["UDP/30100", "TCP/30100"], {}, [], []],
    ["a number below the range", ["TCP/29999"], { "TCP/29999": "none" }, ["29999 outOfRange"], []],
    ["a number above the range, with a row", ["TCP/32768"], {}, ["32768 outOfRange"], []],
    ["both ends of the range", ["TCP/30000", "TCP/32767"], {}, [], []],
  ])("%s", (_, ports, rows, findings, take) => {
    const verdict = judgeNodePorts(held(...ports), (nodePort) => rows[nodePortText(nodePort)] ?? "own");
    expect(verdict.findings.map(({ port, kind }) => `${port} ${kind}`)).toEqual(findings);
    expect(verdict.take.map(nodePortText)).toEqual(take);
  });
});
