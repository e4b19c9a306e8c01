import type { NodePortStorage } from "../../src/addresses/node-ports/node-port-storage";
import type { HeldNodePort } from "../../src/api/registry/services/held-by-service";
import { type ContractCase, isConflict, type Transacted, undone, UNICODE } from "./contract-case";

const START: HeldNodePort = { protocol: "", port: 0 };

/** What every NodePortStorage does. */
export const nodePortStorageCases: readonly ContractCase<Transacted<NodePortStorage>>[] = [
  {
    name: "nothing at first; a delete of an absent port changes nothing",
    run(storage) {
      storage.nodePortDelete(tcp(30_000), "a");
      return [storage.nodePortHolder(tcp(30_000)), storage.nodePortsOf("TCP"), storage.nodePortsAfter(START, 10)];
    },
    want: [undefined, [], []],
  },
  {
    name: "nodePortAdd: a second holder of a port throws, the same one included; another protocol is another port",
    run(storage) {
      storage.nodePortAdd(tcp(30_000), "a");
      const refused = ["b", "a"].map((key) => isConflict(() => storage.nodePortAdd(tcp(30_000), key)));
      storage.nodePortAdd({ protocol: "UDP", port: 30_000 }, "b");
      return [refused, storage.nodePortHolder(tcp(30_000)), storage.nodePortHolder({ protocol: "UDP", port: 30_000 })];
    },
    want: [[true, true], "a", "b"],
  },
  {
    name: "nodePortDelete: only the row of the Service that holds the port",
    run(storage) {
      storage.nodePortAdd(tcp(30_000), "a");
      storage.nodePortDelete(tcp(30_000), "b");
      storage.nodePortDelete({ protocol: "UDP", port: 30_000 }, "a");
      const kept = storage.nodePortHolder(tcp(30_000));
      storage.nodePortDelete(tcp(30_000), "a");
      storage.nodePortAdd(tcp(30_000), "b");
      return [kept, storage.nodePortHolder(tcp(30_000))];
    },
    want: ["a", "b"],
  },
  {
    name: "nodePortsOf: the numbers of one protocol",
    run(storage) {
      for (const port of [32_767, 1, 30_000]) storage.nodePortAdd(tcp(port), "a");
      storage.nodePortAdd({ protocol: "SCTP", port: 5 }, "a");
      const numbers = (protocol: string) => storage.nodePortsOf(protocol).sort((a, b) => a - b);
      return [numbers("TCP"), numbers("SCTP"), numbers("UDP"), numbers("tcp")];
    },
    want: [[1, 30_000, 32_767], [5], [], []],
  },
  {
    name: "nodePortsAfter: behind a port, by protocol and then by number, at most so many",
    run(storage) {
      for (const port of [9, 65_535, 10, 100]) storage.nodePortAdd(tcp(port), "a");
      for (const protocol of ["UDP", "SCTP"]) storage.nodePortAdd({ protocol, port: 50 }, UNICODE);
      const after = (nodePort: HeldNodePort, limit = 10) =>
        storage.nodePortsAfter(nodePort, limit).map(({ protocol, port }) => `${protocol}/${port}`);
      return [after(START), after(START, 2), after(START, 0), after(tcp(10)), after(tcp(11)), after({ protocol: "UDP", port: 50 })];
    },
    want: [
      ["SCTP/50", "TCP/9", "TCP/10", "TCP/100", "TCP/65535", "UDP/50"],
      ["SCTP/50", "TCP/9"],
      [],
      ["TCP/100", "TCP/65535", "UDP/50"],
      ["TCP/100", "TCP/65535", "UDP/50"],
      [],
    ],
  },
  {
    name: "nodePortsAfter: whole rows, with keys of any text",
    run(storage) {
      storage.nodePortAdd(tcp(1), "");
      storage.nodePortAdd(tcp(2), UNICODE);
      return [storage.nodePortsAfter(START, 10), storage.nodePortHolder(tcp(1))];
    },
    want: [
      [
        { protocol: "TCP", port: 1, key: "" },
        { protocol: "TCP", port: 2, key: UNICODE },
      ],
      "",
    ],
  },
  {
    name: "a transaction that fails: leaves the rows as they were",
    run(storage) {
      storage.nodePortAdd(tcp(1), "a");
      undone(storage, () => {
        storage.nodePortDelete(tcp(1), "a");
        storage.nodePortAdd(tcp(1), "b");
        storage.nodePortAdd(tcp(2), "b");
      });
      return storage.nodePortsAfter(START, 10);
    },
    want: [{ protocol: "TCP", port: 1, key: "a" }],
  },
];

function tcp(port: number): HeldNodePort {
  return { protocol: "TCP", port };
}
