/** `npm run cluster`: lists, makes and deletes clusters of a server. */
import { Api } from "../cluster/api";
import { parseOptions, usage } from "../clusters/options";
import { endCluster, type ListedCluster, listClusters, makeCluster } from "../clusters/run";
import { runProgram } from "../terminal/command-line";
import { textTable } from "../terminal/table";

const COLUMNS = ["NAME", "PHASE", "LOCATION", "CREATED", "URL"];

await runProgram({
  name: "cluster",
  usage,
  parse: parseOptions,
  main: async ({ target, task, json }) => {
    const api = new Api(target);
    const print = (document: object, text: string): void => console.log(json ? JSON.stringify(document, null, 2) : text);
    switch (task.kind) {
      case "list": {
        const clusters = await listClusters(api);
        print(clusters, textTable(COLUMNS, clusters.map(rowOf)));
        return 0;
      }
      case "create": {
        const { cluster, isNew } = await makeCluster(api, task);
        print(cluster, `${task.name} is ${isNew ? "made" : "there already"}: ${cluster.status?.url ?? ""}`);
        return 0;
      }
      case "delete": {
        const state = await endCluster(api, task);
        print({ name: task.name, state }, state === "ended" ? `${task.name} has ended` : `${task.name} is being deleted`);
        return state === "ended" || task.waitMs === 0 ? 0 : 1;
      }
    }
  },
});

function rowOf({ metadata, location, status }: ListedCluster): string[] {
  return [metadata?.name ?? "", status?.phase ?? "", location ?? "-", String(metadata?.creationTimestamp ?? "-"), status?.url ?? ""];
}
