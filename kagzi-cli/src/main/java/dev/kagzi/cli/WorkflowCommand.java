package dev.kagzi.cli;

import picocli.CommandLine.Command;

/** Starts runs, looks at them, ends them and revives them. */
@Command(
    name = "workflow",
    description = "Starts runs, looks at them, ends them and revives them.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      WorkflowStart.class,
      WorkflowGet.class,
      WorkflowList.class,
      WorkflowSteps.class,
      WorkflowExport.class,
      WorkflowResult.class,
      WorkflowCancel.class,
      WorkflowTerminate.class,
      WorkflowRetry.class,
      WorkflowResume.class
    },
    footer = {
      "",
      "RUN is a run's id, or the id that its start gave it: then the latest run with it.",
      "Exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 not found, 4 server not",
      "reachable, 5 the run whose result was asked for did not complete."
    })
final class WorkflowCommand extends CommandGroup {}
