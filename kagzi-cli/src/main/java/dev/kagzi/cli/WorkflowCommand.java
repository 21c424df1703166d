package dev.kagzi.cli;

import picocli.CommandLine.Command;

@Command(
    name = "workflow",
    description = "Starts, shows, ends and repairs runs.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "RUN is a run id, or the external id of the start (--id): then the latest run with it.",
      "Exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 not found, 4 server not",
      "reachable, 5 the run whose result was asked for did not complete, 8 a command for",
      "several runs failed for some of them."
    })
final class WorkflowCommand extends CommandGroup {}
