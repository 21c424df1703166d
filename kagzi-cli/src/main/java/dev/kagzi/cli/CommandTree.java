package dev.kagzi.cli;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The commands and their subcommands. Creating a command takes milliseconds, and there are about
 * fifty, so only the commands that a command line names are created. Help, and a command line
 * without a command, creates all.
 */
final class CommandTree {
  private static final Map<Class<?>, List<Class<?>>> SUBCOMMANDS =
      Map.of(
          Main.class,
          List.of(
              DevCommand.class,
              ServerCommand.class,
              MigrateCommand.class,
              WorkflowCommand.class,
              ScheduleCommand.class,
              TypeCommand.class,
              NamespaceCommand.class,
              WorkerCommand.class,
              QueueCommand.class,
              StatsCommand.class,
              TopCommand.class,
              DoctorCommand.class,
              HealthCommand.class,
              SqlCommand.class,
              VersionCommand.class,
              CompletionCommand.class),
          WorkflowCommand.class,
          List.of(
              WorkflowStart.class,
              WorkflowGet.class,
              WorkflowWhy.class,
              WorkflowList.class,
              WorkflowSteps.class,
              WorkflowExport.class,
              WorkflowResult.class,
              WorkflowCancel.class,
              WorkflowSignal.class,
              WorkflowPublished.class,
              WorkflowCallback.class,
              WorkflowTerminate.class,
              WorkflowRetry.class,
              WorkflowResume.class),
          ScheduleCommand.class,
          List.of(
              ScheduleCreate.class,
              ScheduleList.class,
              ScheduleCommand.Get.class,
              ScheduleCommand.Why.class,
              ScheduleUpdate.class,
              ScheduleCommand.Pause.class,
              ScheduleCommand.Resume.class,
              ScheduleCommand.Trigger.class,
              ScheduleCommand.Delete.class,
              ScheduleRuns.class,
              ScheduleNext.class,
              ScheduleBackfill.class),
          TypeCommand.class,
          List.of(TypeCommand.All.class, TypeCommand.SetDefault.class),
          NamespaceCommand.class,
          List.of(
              NamespaceCommand.Create.class,
              NamespaceCommand.All.class,
              NamespaceCommand.Get.class,
              NamespaceCommand.Update.class,
              NamespaceCommand.Enable.class,
              NamespaceCommand.Disable.class),
          WorkerCommand.class,
          List.of(
              WorkerCommand.All.class,
              WorkerCommand.Events.class,
              WorkerCommand.Drain.class,
              WorkerCommand.ForceOffline.class),
          QueueCommand.class,
          List.of(QueueCommand.All.class, QueueCommand.Depth.class));

  private static final Set<String> HELP = Set.of("-h", "--help");

  private final Set<String> words;

  private CommandTree(Set<String> words) {
    this.words = words;
  }

  static CommandTree all() {
    return new CommandTree(Set.of());
  }

  /** Returns the commands that these words name, or all commands if the words ask for help. */
  static CommandTree of(String... words) {
    Set<String> all = new HashSet<>(Arrays.asList(words));
    return all.stream().anyMatch(HELP::contains) ? all() : new CommandTree(all);
  }

  boolean isComplete() {
    return words.isEmpty();
  }

  void addTo(CommandLine word) {
    Object user = word.getCommand();
    List<Class<?>> subcommands = SUBCOMMANDS.getOrDefault(user.getClass(), List.of());
    List<Class<?>> named = subcommands.stream().filter(each -> words.contains(name(each))).toList();
    for (Class<?> each : named.isEmpty() ? subcommands : named) {
      CommandLine command = new CommandLine(each);
      addTo(command);
      word.addSubcommand(name(each), command);
    }
  }

  private static String name(Class<?> command) {
    return requireNonNull(command.getAnnotation(Command.class)).name();
  }
}
