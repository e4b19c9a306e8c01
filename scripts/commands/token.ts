/** `npm run token`: tokens of a server's own users. */
import { isPackage, root } from "../running/root.mjs";
import { runProgram } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { newAdmin } from "../token/new-admin";
import { parseOptions, usage } from "../token/options";
import { runTask, tableOf } from "../token/run";

await runProgram({
  name: "token",
  usage,
  parse: parseOptions,
  main: async (options) => {
    if (options.kind === "new-admin") {
      const { token, hash } = await newAdmin();
      console.error("The token of an administrator; give its hash to the server: npx wrangler secret put ADMIN_TOKEN_HASHES");
      console.log(`${token}\n${hash}`);
      return 0;
    }
    if (options.kind === "dev-vars") {
      const { makeDevVars } = await import("../token/dev-vars");
      if (isPackage) throw new UserError("dev-vars: goes with a clone of the repository, where wrangler dev runs");
      console.log(await makeDevVars(root));
      return 0;
    }
    const answer = await runTask(options.target, options.task);
    if (options.json) console.log(JSON.stringify(answer, null, 2));
    else if (Array.isArray(answer)) console.log(tableOf(answer));
    else if (answer.token === undefined) console.log(`${answer.id} of ${answer.user} is ${answer.state}`);
    else {
      console.error(`The token ${answer.id} of ${answer.user}; it is shown this once:`);
      console.log(answer.token);
    }
    return 0;
  },
});
