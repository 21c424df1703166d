package dev.kagzi.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The size of files, the public methods, and what the state of a task queue depends on. */
class StructureTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/kagzi/engine");
  private static final int LINES_MAX = 500;

  /**
   * Public methods with internal types, which no other module can call, and why they are public.
   */
  private static final Map<String, String> FOR_THE_ENGINE =
      Map.of(
          "dispatch.Task.ofStart", "called by the dispatcher",
          "dispatch.Tasks$Presence.require", "implemented by Workers",
          "run.Runs.startFor", "called by tests of the relations between runs",
          "worker.Workers.recovery", "Engine gives it to the chores",
          "worker.Workers.require", "Engine gives it to Tasks",
          "worker.Workers.send", "called by EngineEvents",
          "worker.Workers.sendAttached", "called by Engine");

  @Test
  void no_file_is_longer_than_500_lines() throws IOException {
    Set<String> longer = new TreeSet<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        if (Files.readAllLines(file).size() > LINES_MAX) {
          longer.add(file.toString());
        }
      }
    }

    assertThat(longer).isEmpty();
  }

  /** Constructors are exempt: only {@link Engine} calls them. */
  @Test
  void the_public_methods_of_the_public_packages_use_no_internal_types() {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : SqlConstants.ENGINE) {
      if (isPublic(type)) {
        for (JavaMethod method : type.getMethods()) {
          if (method.getModifiers().contains(JavaModifier.PUBLIC) && usesInternalTypes(method)) {
            found.add(
                type.getName().substring(SqlConstants.ROOT.length() + 1) + "." + method.getName());
          }
        }
      }
    }

    assertThat(found).isEqualTo(new TreeSet<>(FOR_THE_ENGINE.keySet()));
  }

  private static boolean isPublic(JavaClass type) {
    return !isInternal(type) && type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static boolean isInternal(JavaClass type) {
    return type.getPackageName().startsWith(SqlConstants.ROOT + ".internal");
  }

  private static boolean usesInternalTypes(JavaMethod method) {
    return Stream.concat(Stream.of(method.getReturnType()), method.getParameterTypes().stream())
        .flatMap(type -> type.getAllInvolvedRawTypes().stream())
        .anyMatch(StructureTest::isInternal);
  }

  /** {@code ClaimLoop} has the threads and the statements; the state of a queue has neither. */
  @Test
  void the_state_of_a_task_queue_knows_neither_sql_nor_threads() {
    noClasses()
        .that(
            ofDispatch(
                "Backlog",
                "Backlogs",
                "ClaimGroup",
                "ClaimedRun",
                "FallbackTimer",
                "NextDue",
                "PollingWorker",
                "PollingWorkers",
                "QueueEffects",
                "TaskQueue",
                "WaitingPoll",
                "WorkerLimits"))
        .should()
        .dependOnClassesThat(
            ofDispatch("ClaimLoop", "ClaimRuns", "Dispatcher", "EffectExecutor", "HeldRuns"))
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql", SqlConstants.ROOT + ".internal.db", "..engine.thread")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Executor.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Thread.class)
        .check(SqlConstants.ENGINE);
  }

  private static DescribedPredicate<JavaClass> ofDispatch(String... names) {
    Set<String> full = new TreeSet<>();
    for (String name : names) {
      full.add(SqlConstants.ROOT + ".internal.dispatch." + name);
      assertThat(SqlConstants.ENGINE.contain(SqlConstants.ROOT + ".internal.dispatch." + name))
          .as(name)
          .isTrue();
    }
    return DescribedPredicate.describe(
        "one of " + full, type -> full.contains(type.getName().replaceFirst("\\$.*", "")));
  }
}
