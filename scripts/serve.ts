/** `npm start`: serves Servicenet on this machine until Ctrl-C. */
import { relative, resolve } from "node:path";
import { serve } from "./serve/server";
import { parseOptions, usage } from "./serve/options";
import { ownSignals } from "./serve/signals";
import { UserError } from "./serve/user-error";

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(usage);
    return 0;
  }
  const stopped = new AbortController();
  ownSignals(() => stopped.abort());
  return serve({ ...options, dataFolder: resolve(options.dataFolder) }, stopped, ({ url, folder }) => {
    const shown = (path: string) => {
      const short = relative(process.cwd(), path) || ".";
      return short.startsWith("..") ? path : short;
    };
    console.log(`Servicenet is ready at ${url} (data in ${shown(folder.path)}, Ctrl-C stops)`);
    console.log(`Try: kubectl --kubeconfig ${shown(folder.kubeconfigPath)} create service clusterip hello --tcp=80`);
  });
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof UserError) console.error(`servicenet: ${error.message}`);
    else console.error(error);
    process.exit(1);
  },
);
