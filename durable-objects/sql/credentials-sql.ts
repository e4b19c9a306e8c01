/** Schema and statements of credentials: the deployment's own tokens, and the keys that sign a cluster's service account tokens. */
import type { SigningKeyRow, SigningKeyStorage } from "../../src/access/authentication/signing-keys";
import type { TokenStorage } from "../../src/access/authentication/token-book";
import type { TokenRow } from "../../src/access/authentication/token-record";
import type { Migration } from "./migrate";
import type { SqlRow } from "./sql-row";

const CREDENTIALS_SCHEMA = `
   CREATE TABLE bearer_tokens (
     id TEXT PRIMARY KEY,
     user_name TEXT NOT NULL,
     -- Lists are JSON. Without clusters the token is good for all.
     user_groups TEXT NOT NULL,
     clusters TEXT,
     description TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     last_used_day INTEGER,
     salt TEXT NOT NULL,
     sha256 TEXT NOT NULL,
     -- The secret before the last rotation.
     former_salt TEXT,
     former_sha256 TEXT,
     former_until INTEGER
   ) STRICT;
   CREATE TABLE signing_keys (
     kid TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     replaced_at INTEGER,
     public_jwk TEXT NOT NULL,
     -- Gone when the key is replaced.
     private_jwk TEXT
   ) STRICT;`;

/** JSON lists; without them an agent has no such limit. */
const AGENT_LIMITS = `
   ALTER TABLE bearer_tokens ADD COLUMN agent_namespaces TEXT;
   ALTER TABLE bearer_tokens ADD COLUMN agent_labels TEXT;`;

export const CREDENTIALS_MIGRATIONS: readonly Migration[] = [
  { id: 1, sql: CREDENTIALS_SCHEMA },
  { id: 2, sql: AGENT_LIMITS },
];

/** The TokenStorage and SigningKeyStorage ports on a Durable Object's SQLite. */
export function sqlCredentialStorage(storage: DurableObjectStorage): TokenStorage & SigningKeyStorage {
  const { sql } = storage;
  return {
    transaction: (work) => storage.transactionSync(work),

    tokensCount: () => sql.exec<{ count: number }>("SELECT count(*) AS count FROM bearer_tokens").one().count,
    tokenLoad(id) {
      const row = sql.exec<SqlRow>("SELECT * FROM bearer_tokens WHERE id = ?", id).toArray()[0];
      return row && tokenRow(row);
    },
    tokensLoad: () => sql.exec<SqlRow>("SELECT * FROM bearer_tokens ORDER BY created_at, id").toArray().map(tokenRow),
    tokenSave({ record, hash, formerHash }) {
      sql.exec(
        `INSERT OR REPLACE INTO bearer_tokens (id, user_name, user_groups, clusters, description, created_at, expires_at, revoked_at,
           last_used_day, salt, sha256, former_salt, former_sha256, former_until, agent_namespaces, agent_labels)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        record.id,
        record.user,
        JSON.stringify(record.groups),
        record.clusters ? JSON.stringify(record.clusters) : null,
        record.description,
        record.createdAt,
        record.expiresAt ?? null,
        record.revokedAt ?? null,
        record.lastUsedDay ?? null,
        hash.salt,
        hash.sha256,
        formerHash?.salt ?? null,
        formerHash?.sha256 ?? null,
        record.formerUntil ?? null,
        record.agentNamespaces ? JSON.stringify(record.agentNamespaces) : null,
        record.agentLabels ? JSON.stringify(record.agentLabels) : null,
      );
    },
    tokenDelete(id) {
      sql.exec("DELETE FROM bearer_tokens WHERE id = ?", id);
    },

    signingKeysLoad: () => sql.exec<SqlRow>("SELECT * FROM signing_keys ORDER BY created_at, rowid").toArray().map(signingKeyRow),
    signingKeySave({ kid, createdAt, replacedAt, publicJwk, privateJwk }) {
      sql.exec(
        `INSERT INTO signing_keys (kid, created_at, replaced_at, public_jwk, private_jwk) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (kid) DO UPDATE SET replaced_at = excluded.replaced_at, private_jwk = excluded.private_jwk`,
        kid,
        createdAt,
        replacedAt ?? null,
        publicJwk,
        privateJwk ?? null,
      );
    },
    signingKeyDelete(kid) {
      sql.exec("DELETE FROM signing_keys WHERE kid = ?", kid);
    },
  };
}

function tokenRow(row: SqlRow): TokenRow {
  const record = {
    id: row.id as string,
    user: row.user_name as string,
    groups: JSON.parse(row.user_groups as string) as string[],
    clusters: row.clusters === null ? undefined : (JSON.parse(row.clusters as string) as string[]),
    ...(row.agent_namespaces === null ? {} : { agentNamespaces: JSON.parse(row.agent_namespaces as string) as string[] }),
    ...(row.agent_labels === null ? {} : { agentLabels: JSON.parse(row.agent_labels as string) as string[] }),
    description: row.description as string,
    createdAt: row.created_at as number,
    expiresAt: numberOf(row.expires_at),
    revokedAt: numberOf(row.revoked_at),
    lastUsedDay: numberOf(row.last_used_day),
    formerUntil: numberOf(row.former_until),
  };
  const hash = { salt: row.salt as string, sha256: row.sha256 as string };
  if (row.former_salt === null) return { record, hash };
  return { record, hash, formerHash: { salt: row.former_salt as string, sha256: row.former_sha256 as string } };
}

function signingKeyRow(row: SqlRow): SigningKeyRow {
  return {
    kid: row.kid as string,
    createdAt: row.created_at as number,
    replacedAt: numberOf(row.replaced_at),
    publicJwk: row.public_jwk as string,
    privateJwk: row.private_jwk === null ? undefined : (row.private_jwk as string),
  };
}

function numberOf(value: SqlStorageValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
