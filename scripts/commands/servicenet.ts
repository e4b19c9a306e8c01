/** The command `servicenet`: all programs for users as its subcommands. */
import { becomeSubcommands } from "../terminal/call";
import { UserError } from "../terminal/user-error";

becomeSubcommands();
// Whoever reads the first lines alone, as head does, has what he wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
try {
  const { runServicenet } = await import("../servicenet/program");
  await runServicenet();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`servicenet: ${error.message}`);
  process.exitCode = 1;
}
