import type { GenRow, IPAddressStorage } from "../../src/addresses/clusterip/ip-address-storage";
import { type ContractCase, LARGEST, type Transacted, undone, UNICODE } from "./contract-case";

/** What every IPAddressStorage does. */
export const ipAddressStorageCases: readonly ContractCase<Transacted<IPAddressStorage>>[] = [
  {
    name: "nothing at first: no writer, no claims of epoch 0",
    run: (storage) => [storage.genGet("10.0.0.1"), storage.claimsLoad()],
    want: [undefined, { epoch: 0, prefixes: [] }],
  },
  {
    name: "gens: the last one put of each address, also an older one and one without a token",
    run(storage) {
      for (const gen of [row("10.0.0.1", "a", 5), row("10.0.0.1", "", 4), row("fd00::1", "b", LARGEST)]) storage.genPut(gen);
      return [storage.genGet("10.0.0.1"), storage.genGet("fd00::1"), storage.genGet("10.0.0.2")];
    },
    want: [row("10.0.0.1", "", 4), row("fd00::1", "b", LARGEST), undefined],
  },
  {
    name: "gens: any text is an address",
    run(storage) {
      storage.genPut(row("", UNICODE, 0));
      storage.genPut(row(UNICODE, "", 1));
      return [storage.genGet(""), storage.genGet(UNICODE)];
    },
    want: [row("", UNICODE, 0), row(UNICODE, "", 1)],
  },
  {
    name: "claims: the last ones saved, in their order, none included",
    run(storage) {
      storage.claimsSave(1, ["10.0.0.0/24"]);
      storage.claimsSave(LARGEST, ["fd00::/112", "10.0.0.0/24", UNICODE, ""]);
      const claims = storage.claimsLoad();
      storage.claimsSave(2, []);
      return [claims, storage.claimsLoad()];
    },
    want: [
      { epoch: LARGEST, prefixes: ["fd00::/112", "10.0.0.0/24", UNICODE, ""] },
      { epoch: 2, prefixes: [] },
    ],
  },
  {
    name: "a transaction that fails: leaves gens and claims as they were",
    run(storage) {
      storage.genPut(row("10.0.0.1", "a", 1));
      undone(storage, () => {
        storage.genPut(row("10.0.0.1", "b", 2));
        storage.genPut(row("10.0.0.2", "b", 2));
        storage.claimsSave(3, ["10.0.0.0/24"]);
      });
      return [storage.genGet("10.0.0.1"), storage.genGet("10.0.0.2"), storage.claimsLoad()];
    },
    want: [row("10.0.0.1", "a", 1), undefined, { epoch: 0, prefixes: [] }],
  },
  {
    name: "rows are copies: what is changed outside changes nothing inside",
    run(storage) {
      const put = row("10.0.0.1", "a", 1);
      const prefixes = ["10.0.0.0/24"];
      storage.genPut(put);
      storage.claimsSave(1, prefixes);
      prefixes.push("10.0.1.0/24");
      storage.claimsLoad().prefixes.push("10.0.2.0/24");
      for (const each of [put, storage.genGet("10.0.0.1")]) if (each) Object.assign(each.gen, { epoch: 99 });
      return [storage.genGet("10.0.0.1"), storage.claimsLoad()];
    },
    want: [row("10.0.0.1", "a", 1), { epoch: 1, prefixes: ["10.0.0.0/24"] }],
  },
];

function row(address: string, token: string, epoch: number): GenRow {
  return { address, token, gen: { epoch, counter: 7 } };
}
