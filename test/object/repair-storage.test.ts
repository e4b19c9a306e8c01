/** What repair looks at again, in the tables of a real object as in the memory of the tests. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../durable-objects/env";
import { sqlRepairStorage } from "../../durable-objects/sql/repair-sql";
import type { RepairStorage } from "../../src/addresses/repair/repair-ports";
import { MemoryRepairStorage } from "../support/memory/repair-storage";

const bindings = env as unknown as Env;

/** Everything that can become of suspects, and what is answered on the way. */
function story(storage: RepairStorage): unknown[] {
  const answers: unknown[] = [storage.suspectEarliest(), storage.suspectTries("services/default/a")];
  storage.suspectPut("services/default/a", 500);
  storage.suspectPut("ipaddresses/10.0.0.9", 300, { attempts: 2, toldAt: 7 });
  storage.suspectPut("services/default/b", 5_000);
  answers.push(storage.suspectEarliest(), storage.suspectTries("services/default/a"), storage.suspectTries("ipaddresses/10.0.0.9"));
  // The earlier time wins, and who has no tries to tell leaves them as they are.
  storage.suspectPut("ipaddresses/10.0.0.9", 900);
  storage.suspectPut("services/default/a", 400, { attempts: 1, toldAt: 0 });
  answers.push(storage.suspectEarliest(), storage.suspectTries("ipaddresses/10.0.0.9"), storage.suspectTries("services/default/a"));
  answers.push(storage.suspectsTake(1_000, 10, 90_000).sort(), storage.suspectsTake(1_000, 10, 90_001));
  // While it is taken its tries are known; what is put back stays with them, what is done is forgotten.
  storage.suspectPut("services/default/a", 2_000, { attempts: storage.suspectTries("services/default/a").attempts + 1, toldAt: 1_000 });
  storage.suspectsDone(90_000);
  answers.push(storage.suspectEarliest(), storage.suspectTries("services/default/a"), storage.suspectTries("ipaddresses/10.0.0.9"));
  answers.push(storage.suspectsTake(10_000, 1, 99_000), storage.suspectsTake(10_000, 10, 99_000));
  return answers;
}

it("suspects: keep their times, their attempts and the time of their report", async () => {
  const none = { attempts: 0, toldAt: 0 };
  const expected = [
    ...[undefined, none],
    ...[300, none, { attempts: 2, toldAt: 7 }],
    ...[300, { attempts: 2, toldAt: 7 }, { attempts: 1, toldAt: 0 }],
    ...[["ipaddresses/10.0.0.9", "services/default/a"], []],
    ...[2_000, { attempts: 2, toldAt: 1_000 }, none],
    ...[["services/default/a"], ["services/default/b"]],
  ];
  expect(story(new MemoryRepairStorage())).toEqual(expected);
  const stub = bindings.CONTROLLER.getByName("repair-storage/controllers/repair");
  expect(await runInDurableObject(stub, (_, { storage }) => story(sqlRepairStorage(storage)))).toEqual(expected);
});
