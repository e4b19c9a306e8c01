/** The tables of all controllers: an object has them all, and uses its own. */
import type { ControllerSetting } from "./platform/controllers";
import { FOLLOWED_ROWS_SCHEMA, sqlRowStorage } from "./sql/followed-rows-sql";
import { GARBAGE_COLLECTION_SCHEMA, sqlGraphStorage } from "./sql/garbage-collection-sql";
import { IDENTITY_SCHEMA } from "./sql/identity-sql";
import type { Migration } from "./sql/migrate";
import { REPAIR_SCHEMA, REPAIR_SETTINGS_SCHEMA, REPAIR_TRIES_SCHEMA, sqlRepairStorage, sqlSettingsStorage } from "./sql/repair-sql";

export const CONTROLLER_MIGRATIONS: readonly Migration[] = [
  { id: 1, sql: IDENTITY_SCHEMA },
  { id: 2, sql: GARBAGE_COLLECTION_SCHEMA },
  { id: 3, sql: REPAIR_SCHEMA },
  { id: 4, sql: REPAIR_SETTINGS_SCHEMA },
  { id: 5, sql: REPAIR_TRIES_SCHEMA },
  { id: 6, sql: FOLLOWED_ROWS_SCHEMA },
];

export function controllerTables(storage: DurableObjectStorage): ControllerSetting["tables"] {
  return {
    graph: sqlGraphStorage(storage),
    repair: sqlRepairStorage(storage),
    settings: sqlSettingsStorage(storage),
    rows: sqlRowStorage(storage),
  };
}
