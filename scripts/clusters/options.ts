/** The command line of `npm run cluster`. */
import { validateDNS1123Label } from "../../src/api/meta/names";
import { locationNamed, locationOption, locationUsage } from "../cluster/location";
import { serverOf, serverUsage, type Target, targetOptions } from "../cluster/target";
import { beforeOptions, callOf } from "../terminal/call";
import { isJson, parseCommandLine, prefixOf, type ProgramOptions, wholeNumber } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export type ClusterTask =
  | { kind: "list" }
  | { kind: "create"; name: string; location: string | undefined; serviceCIDRs: readonly string[] }
  /** `waitMs`: how long for the end; 0 = the deletion is begun */
  | { kind: "delete"; name: string; waitMs: number };

interface ClusterOptions {
  /** the server as a whole */
  target: Target;
  task: ClusterTask;
  json: boolean;
}

const COMMAND = callOf("cluster");
const CALL = beforeOptions(COMMAND);
const WAIT_SECONDS = "120";
const WAIT_SECONDS_MAX = 99_999;

/** What it does. */
export const CLUSTER_COMMANDS = ["list", "create", "delete"];

const { cluster: _, ...serverOptions } = targetOptions;

/** For `parseArgs`. */
export const options = {
  ...serverOptions,
  ...locationOption,
  "service-cidr": { type: "string", multiple: true },
  wait: { type: "string" },
  output: { type: "string", default: "text" },
} satisfies ProgramOptions;

export const usage = `Usage: ${CALL} list [options]
       ${CALL} create NAME [options]
       ${CALL} delete NAME [options]

Clusters of a server (docs/clusters.md). For its administrators.

  list                all of them, with their phase and address
  create NAME         makes the cluster, unless it is there
    --service-cidr CIDR
                      a range that it begins with; twice for both families (the server's SERVICE_CLUSTER_IP_RANGE)
  delete NAME         ends it with all that is in it; there is no way back
    --wait SECONDS    how long to wait for its end; 0 = not at all (${WAIT_SECONDS})

${serverUsage}
${locationUsage}
  --output FORMAT     text or json
  --help              this text

Exit code: 0 done, 1 it did not work, or the end has not come yet, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<ClusterOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, { args, allowPositionals: true, options });
  if (parsed === "help") return "help";
  const { values, positionals } = parsed;
  const task = taskOf(positionals, values);
  return { task, json: isJson(values.output), target: await serverOf(values) };
}

interface TaskValues {
  location?: string | undefined;
  "service-cidr"?: string[] | undefined;
  wait?: string | undefined;
}

function taskOf([command, ...names]: readonly string[], values: TaskValues): ClusterTask {
  refuseOptionsOf("create", command, values, ["location", "service-cidr"]);
  refuseOptionsOf("delete", command, values, ["wait"]);
  switch (command) {
    case "list":
      if (names.length > 0) throw new UserError(`list takes no ${names[0] ?? ""}`);
      return { kind: "list" };
    case "create": {
      const serviceCIDRs = values["service-cidr"] ?? [];
      for (const cidr of serviceCIDRs) prefixOf("--service-cidr", cidr);
      return { kind: "create", name: nameIn(command, names), location: locationNamed(values.location), serviceCIDRs };
    }
    case "delete": {
      const seconds = wholeNumber("--wait", values.wait ?? WAIT_SECONDS, 0, WAIT_SECONDS_MAX);
      return { kind: "delete", name: nameIn(command, names), waitMs: seconds * 1_000 };
    }
    default:
      throw new UserError(`${command ?? "no command given"}: must be one of ${CLUSTER_COMMANDS.join(", ")}`);
  }
}

function refuseOptionsOf(owner: string, command: string | undefined, values: TaskValues, names: readonly (keyof TaskValues)[]): void {
  const given = command === owner ? undefined : names.find((name) => values[name] !== undefined);
  if (given !== undefined) throw new UserError(`--${given}: goes with ${owner}`);
}

function nameIn(command: string, names: readonly string[]): string {
  const [name, more] = names;
  if (name === undefined || more !== undefined) throw new UserError(`${command}: needs one NAME`);
  const [wrong] = validateDNS1123Label(name);
  if (wrong !== undefined) throw new UserError(`${command} ${name}: ${wrong}`);
  return name;
}
