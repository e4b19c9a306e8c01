/** `npm run record`: asks the real kube-apiserver everything that the tests compare with it. */
import { parseCommandLine, runProgram } from "../terminal/command-line";

const COMMAND = "npm run record";
const usage = `Usage: ${COMMAND} [-- --compare URL]

Builds kube-apiserver and etcd from their Go modules (test/clients/kube-apiserver), starts both on loopback, and writes their answers to the requests of
test/support/replay into test/fixtures/upstream. For a newer Kubernetes change the versions in go.mod there and in scripts/dev/record/upstream.ts first.

  --compare URL       writes nothing: asks this server, too, and prints what differs. It has three times as many requests. URL is that of a new cluster
                      of a server without access control, where of all controllers service-cidr-controller alone runs
  --help              this text

Exit code: 0 everything was recorded, or nothing differs; 1 something differs, could not be built or gave no answer; 2 wrong options.`;

await runProgram({
  name: "record",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine(COMMAND, { args, options: { compare: { type: "string" } } });
    return parsed === "help" ? "help" : { compared: parsed.values.compare };
  },
  main: async ({ compared }) => {
    const { compare, record } = await import("./record/run");
    if (compared !== undefined) return (await compare(compared)) ? 0 : 1;
    await record();
    return 0;
  },
});
