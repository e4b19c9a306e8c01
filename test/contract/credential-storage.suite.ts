import type { SigningKeyRow, SigningKeyStorage } from "../../src/access/authentication/signing-keys";
import type { TokenStorage } from "../../src/access/authentication/token-book";
import type { TokenRow } from "../../src/access/authentication/token-record";
import { type ContractCase, LARGEST, undone, UNICODE } from "./contract-case";

/** Everything that a row may have. */
const FULL: TokenRow = {
  record: {
    ...{
      id: "a",
      user: UNICODE,
      groups: ["g", UNICODE],
      clusters: ["one", "two"],
      agentNamespaces: ["a", "b"],
      agentLabels: ["app=web", UNICODE],
      description: UNICODE,
    },
    ...{ createdAt: 3, expiresAt: LARGEST, revokedAt: 4, lastUsedDay: 5, formerUntil: 6 },
  },
  hash: { salt: "new", sha256: "new hash" },
  formerHash: { salt: "old", sha256: "old hash" },
};

const EMPTY: TokenRow = {
  record: {
    ...{ id: "", user: "", groups: [""], clusters: [], description: "" },
    ...{ createdAt: 0, expiresAt: 0, revokedAt: 0, lastUsedDay: 0, formerUntil: 0 },
  },
  hash: { salt: "", sha256: "" },
  formerHash: { salt: "", sha256: "" },
};

/** What every TokenStorage does, and every SigningKeyStorage beside it in one object. */
export const credentialStorageCases: readonly ContractCase<TokenStorage & SigningKeyStorage>[] = [
  {
    name: "nothing at first; deletes of absent rows change nothing",
    run(storage) {
      storage.tokenDelete("a");
      storage.signingKeyDelete("a");
      return [storage.tokensCount(), storage.tokenLoad("a"), storage.tokensLoad(), storage.signingKeysLoad()];
    },
    want: [0, undefined, [], []],
  },
  {
    name: "tokens: the last row of each id, until it is deleted",
    run(storage) {
      storage.tokenSave(token("a", 1));
      storage.tokenSave(token("b", 2));
      storage.tokenSave(FULL);
      storage.tokenDelete("b");
      return [storage.tokensCount(), storage.tokenLoad("a"), storage.tokenLoad("b"), storage.tokensLoad()];
    },
    want: [1, FULL, undefined, [FULL]],
  },
  {
    name: "tokens: what is absent becomes absent again",
    run(storage) {
      storage.tokenSave(FULL);
      storage.tokenSave(token("a", 1));
      return storage.tokenLoad("a");
    },
    want: token("a", 1),
  },
  {
    name: "tokens: zeros, empty texts and empty lists are not absent",
    run(storage) {
      storage.tokenSave(EMPTY);
      return [storage.tokenLoad(""), storage.tokensCount()];
    },
    want: [EMPTY, 1],
  },
  {
    name: "tokensLoad: in the order of their creation, those of one time by id, however they were saved",
    run(storage) {
      for (const each of [token("c", 5), token("b", 5), token("a", 9), token("d", 1), token("c", 5)]) storage.tokenSave(each);
      return storage.tokensLoad().map(({ record }) => record.id);
    },
    want: ["d", "b", "c", "a"],
  },
  {
    name: "signingKeysLoad: oldest first, those of one time as they came",
    run(storage) {
      for (const each of [key("c", 5), key("a", 9), key("b", 5), key("d", 1)]) storage.signingKeySave(each);
      storage.signingKeySave({ ...key("c", 5), replacedAt: 6 });
      return storage.signingKeysLoad().map(({ kid }) => kid);
    },
    want: ["d", "c", "b", "a"],
  },
  {
    name: "signingKeySave: a known key is replaced, its public part and its time stay",
    run(storage) {
      storage.signingKeySave({ ...key("a", 1), privateJwk: UNICODE });
      const before = storage.signingKeysLoad();
      storage.signingKeySave({ kid: "a", createdAt: 7, publicJwk: "another", replacedAt: LARGEST });
      return [before, storage.signingKeysLoad()];
    },
    want: [[{ ...key("a", 1), privateJwk: UNICODE }], [{ ...key("a", 1), replacedAt: LARGEST, privateJwk: undefined }]],
  },
  {
    name: "signing keys: deleted by kid; zeros and empty texts are not absent",
    run(storage) {
      storage.signingKeySave({ kid: "", createdAt: 0, replacedAt: 0, publicJwk: "", privateJwk: "" });
      storage.signingKeySave(key("a", 1));
      storage.signingKeyDelete("a");
      return storage.signingKeysLoad();
    },
    want: [{ kid: "", createdAt: 0, replacedAt: 0, publicJwk: "", privateJwk: "" }],
  },
  {
    name: "a transaction that fails: leaves tokens and keys as they were; one within another fails alone",
    run(storage) {
      storage.tokenSave(token("a", 1));
      storage.signingKeySave(key("a", 1));
      undone(storage, () => {
        storage.tokenSave(token("b", 2));
        storage.tokenDelete("a");
        storage.signingKeySave({ ...key("a", 1), replacedAt: 2 });
        storage.signingKeySave(key("b", 2));
      });
      const answer = storage.transaction(() => {
        storage.tokenSave(token("c", 3));
        undone(storage, () => storage.tokenDelete("c"));
        return "answer";
      });
      return [answer, storage.tokensLoad(), storage.signingKeysLoad()];
    },
    want: ["answer", [token("a", 1), token("c", 3)], [key("a", 1)]],
  },
];

function token(id: string, createdAt: number): TokenRow {
  return { record: { id, createdAt, user: "jane", groups: [], description: "" }, hash: { salt: "s", sha256: "h" } };
}

function key(kid: string, createdAt: number): SigningKeyRow {
  return { kid, createdAt, publicJwk: `public ${kid}`, privateJwk: `private ${kid}` };
}
