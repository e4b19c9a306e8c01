import { env, runInDurableObject } from "cloudflare:test";
import { describe, it } from "vitest";
import type { ResourceStore } from "../../durable-objects/resource-store";
import { migrate } from "../../durable-objects/sql/migrate";
import { sqlNamespaceGuardStorage, sqlStoreStorage } from "../../durable-objects/sql/store-sql";
import { STORE_MIGRATIONS } from "../../durable-objects/store-object";
import { storeStorageCases } from "../contract/store-storage.suite";

const { RESOURCE_STORE } = env as unknown as { RESOURCE_STORE: DurableObjectNamespace<ResourceStore> };

let clusters = 0;
/** A store that no other test has touched. */
function freshStore(resource: string): DurableObjectStub<ResourceStore> {
  return RESOURCE_STORE.getByName(`test-${++clusters}/${resource}`);
}

describe("the store's rows in SQLite", () => {
  it.each(storeStorageCases)("$name", ({ run }) =>
    runInDurableObject(freshStore("nodes"), async (_, state) => {
      await state.storage.deleteAll();
      migrate(state.storage, STORE_MIGRATIONS, 0);
      run({ ...sqlStoreStorage(state.storage), ...sqlNamespaceGuardStorage(state.storage) });
    }),
  );
});
