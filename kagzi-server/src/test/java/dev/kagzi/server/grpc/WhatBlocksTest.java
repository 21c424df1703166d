package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the engine's services document about blocking, and how the gRPC edge calls them. */
class WhatBlocksTest {
  private static final Set<String> SERVICES =
      Set.of(
          "DefaultVersions",
          "Namespaces",
          "Queries",
          "Runs",
          "ScheduleStarts",
          "Schedules",
          "Tasks",
          "Workers");

  private static final JavaClasses EDGE =
      new ClassFileImporter()
          .importUrl(BlockingCalls.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void exactly_the_documented_services_are_called_on_virtual_threads() throws IOException {
    Set<String> documented = documented();
    Set<JavaCodeUnit> onVirtualThreads = onVirtualThreads();
    Set<String> wrapped = new TreeSet<>();
    Set<String> unwrapped = new TreeSet<>();
    for (JavaClass type : EDGE) {
      if (type.getPackageName().startsWith("dev.kagzi.server.web")
          || type.getPackageName().startsWith("dev.kagzi.server.http")) {
        // HTTP requests run on virtual threads.
        continue;
      }
      for (JavaCodeUnitAccess<?> call : type.getCodeUnitAccessesFromSelf()) {
        if (isOfService(call)) {
          String service = call.getTargetOwner().getSimpleName();
          String method = service + "." + call.getName();
          (onVirtualThreads.contains(call.getOrigin()) ? wrapped : unwrapped)
              .add(documented.contains(service) ? service : method);
        }
      }
    }

    assertThat(wrapped).isEqualTo(documented);
    assertThat(unwrapped)
        .contains("Runs.cancel", "Tasks.poll")
        .doesNotContainAnyElementsOf(documented);
  }

  private static Set<String> documented() throws IOException {
    String text = Files.readString(Path.of("../ARCHITECTURE.md"));
    String paragraph = text.substring(text.indexOf("**What blocks.**"));
    int end = paragraph.indexOf("read or write the\ndatabase");
    assertThat(end).as("position of \"read or write the database\"").isPositive();
    int sentence = Math.max(paragraph.lastIndexOf(". ", end), paragraph.lastIndexOf(".\n", end));
    String list = paragraph.substring(sentence, end);
    Set<String> names = new TreeSet<>();
    Pattern.compile("`([^`]+)`").matcher(list).results().forEach(name -> names.add(name.group(1)));
    return names;
  }

  private static boolean isOfService(JavaCodeUnitAccess<?> call) {
    return call.getTargetOwner().getPackageName().startsWith("dev.kagzi.engine")
        && SERVICES.contains(call.getTargetOwner().getSimpleName());
  }

  /**
   * The methods that use {@link BlockingCalls}, or {@link WatchedRead}, which passes its read to
   * it; and their helpers in the same class.
   */
  private static Set<JavaCodeUnit> onVirtualThreads() {
    Set<JavaCodeUnit> units = new HashSet<>();
    for (JavaClass type : EDGE) {
      for (JavaCodeUnitAccess<?> call : type.getCodeUnitAccessesFromSelf()) {
        if (call.getTargetOwner().isEquivalentTo(BlockingCalls.class)
            || call.getTargetOwner().isEquivalentTo(WatchedRead.class)) {
          units.add(call.getOrigin());
        }
      }
    }
    for (JavaCodeUnit unit : Set.copyOf(units)) {
      Stream.concat(unit.getCallsFromSelf().stream(), unit.getMethodReferencesFromSelf().stream())
          .filter(call -> call.getTargetOwner().equals(unit.getOwner()))
          .forEach(call -> call.getTarget().resolveMember().ifPresent(units::add));
    }
    return units;
  }
}
