/** A row as SQLite answers it, by the names of its columns. */
export type SqlRow = Record<string, SqlStorageValue>;
