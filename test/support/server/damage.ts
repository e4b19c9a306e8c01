/** Writes into the tables of a stopped server, past its code. */
import { join } from "node:path";
import { Log, LogLevel, Miniflare } from "miniflare";

/** Classes whose objects can be changed. */
const CLASSES = ["ServicesStore", "IPAddressesStore", "ResourceStore", "Coordinator", "ServiceCIDR", "Controller"] as const;

export interface Damage {
  class: (typeof CLASSES)[number];
  /** of the object, beginning with its cluster's */
  name: string;
  sql: string;
  values?: (string | number)[];
}

const SCRIPT = `
  import { DurableObject } from "cloudflare:workers";
  class Tables extends DurableObject {
    write(sql, values) {
      return this.ctx.storage.sql.exec(sql, ...values).rowsWritten;
    }
    // An alarm that is due meanwhile is the server's: without a handler the runtime would throw it away.
    async alarm() {
      await this.ctx.storage.setAlarm(Date.now() + 1_000);
    }
  }
  ${CLASSES.map((name) => `export class ${name} extends Tables {}`).join("\n")}
  export default {
    async fetch(request, env) {
      const damage = await request.json();
      const namespace = env[damage.class];
      return Response.json(await namespace.get(namespace.idFromName(damage.name)).write(damage.sql, damage.values ?? []));
    },
  };`;

/** Throws when a statement changes nothing. */
export async function damageData(dataFolder: string, all: readonly Damage[]): Promise<void> {
  const runtime = new Miniflare({
    name: "servicenet",
    cf: false,
    logRequests: false,
    log: new Log(LogLevel.ERROR),
    modules: [{ type: "ESModule", path: "index.js", contents: SCRIPT }],
    compatibilityDate: "2026-04-26",
    durableObjects: Object.fromEntries(CLASSES.map((className) => [className, { className, useSQLite: true }])),
    defaultPersistRoot: join(dataFolder, "state"),
  });
  try {
    for (const damage of all) {
      const response = await runtime.dispatchFetch("http://damage/", { method: "POST", body: JSON.stringify(damage) });
      const text = await response.text();
      if (!response.ok || Number(text) === 0) throw new Error(`${damage.class} ${damage.name}: ${damage.sql}: ${text}`);
    }
  } finally {
    await runtime.dispose();
  }
}
