/** Credentials in memory; a transaction that throws changes nothing. */
import type { SigningKeyRow, SigningKeyStorage } from "../../../src/access/authentication/signing-keys";
import type { TokenStorage } from "../../../src/access/authentication/token-book";
import type { TokenRow } from "../../../src/access/authentication/token-record";

export function memoryCredentialStorage(): TokenStorage & SigningKeyStorage {
  let tokens = new Map<string, TokenRow>();
  let keys = new Map<string, SigningKeyRow>();
  return {
    transaction(work) {
      const before = [new Map(tokens), new Map(keys)] as [typeof tokens, typeof keys];
      try {
        return work();
      } catch (error) {
        [tokens, keys] = before;
        throw error;
      }
    },
    tokensCount: () => tokens.size,
    tokenLoad: (id) => tokens.get(id),
    tokensLoad: () => [...tokens.values()].sort(({ record: a }, { record: b }) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    tokenSave: (row) => void tokens.set(row.record.id, row),
    tokenDelete: (id) => void tokens.delete(id),
    signingKeysLoad: () => [...keys.values()].sort((a, b) => a.createdAt - b.createdAt),
    signingKeySave(row) {
      const { createdAt, publicJwk } = keys.get(row.kid) ?? row;
      keys.set(row.kid, { ...row, createdAt, publicJwk });
    },
    signingKeyDelete: (kid) => void keys.delete(kid),
  };
}
