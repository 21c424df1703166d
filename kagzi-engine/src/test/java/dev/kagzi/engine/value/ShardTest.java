package dev.kagzi.engine.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kagzi.engine.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShardTest {
  /** Every place that makes an id, with what it calls, and where the shard comes from. */
  private static final Map<String, String> PLACES =
      Map.ofEntries(
          Map.entry("Engine.<init> next()", "random: a server"),
          Map.entry("namespace.Namespaces.insert next()", "random: a namespace"),
          Map.entry("internal.request.IdempotentCall.of next()", "random: a call"),
          Map.entry("internal.worker.AttachStreams.open next()", "random: a stream"),
          Map.entry("value.WorkerId.next next()", "random: a worker"),
          Map.entry("value.RunId.next next()", "replaced by the shard that is given"),
          Map.entry("run.Runs.runId next()", "random: a run without external id and parent"),
          Map.entry("run.Runs.runId next(Shard)", "the external id, else the parent"),
          Map.entry("run.Runs.retry next(Shard)", "the run that is retried"),
          Map.entry("schedule.Schedules.scheduleId next()", "random: a schedule without a name"),
          Map.entry("schedule.Schedules.scheduleId next(Shard)", "the schedule's name"),
          Map.entry("schedule.ScheduleStarts.trigger next(Shard)", "the schedule"),
          Map.entry(
              "internal.schedule.FireRuns$Wanted.slotId derived(String, Instant)", "the schedule"),
          Map.entry("internal.db.Generation.of randomUUID()", "random: a generation"),
          Map.entry(
              "internal.transition.ChainTransitions.start derived(String)",
              "the run that continues"),
          Map.entry(
              "internal.transition.ChildTransitions.startChild derived(String)", "the parent"),
          Map.entry(
              "internal.transition.FailureHandlerStarts.start derived(String)", "the failed run"),
          Map.entry("value.RunId.in UUID(long, long)", "the argument"),
          Map.entry("value.RunId.derived derived(String, long)", "the run that is derived from"),
          Map.entry("value.RunId.derived UUID(long, long)", "the run that is derived from"),
          Map.entry("internal.run.SignalRequestRows.<clinit> UUID(long, long)", "not an id"),
          Map.entry("internal.run.ExpiredRuns$Position.<clinit> UUID(long, long)", "not an id"));

  /** The SDK has the same values in its own test. */
  @Test
  void a_shard_follows_from_namespace_and_key() {
    assertThat(Shard.of("default", "order-42")).hasToString("6871");
    assertThat(Shard.of("shop", "ü")).hasToString("f34b");
    assertThat(Shard.of("shop", "order-42")).isNotEqualTo(Shard.of("default", "order-42"));
  }

  @Test
  void the_last_four_digits_of_an_id_are_its_shard() {
    RunId id = new RunId(UUID.fromString("0198c2a4-7d1e-7a3b-9c4d-5e6f7a8b0c0d"));

    assertThat(id.shard()).hasToString("0c0d");
    assertThat(id.in(new Shard(0xfedc))).hasToString("0198c2a4-7d1e-7a3b-9c4d-5e6f7a8bfedc");
    assertThat(RunId.next(new Shard(0xffff)).toString()).endsWith("ffff");
  }

  @Test
  void ids_of_one_shard_differ_although_they_are_made_in_the_same_millisecond() {
    Set<RunId> ids = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      ids.add(RunId.next(new Shard(7)));
    }

    assertThat(ids).hasSize(10_000);
  }

  @Test
  void a_derived_id_keeps_the_shard() {
    RunId parent = RunId.next();

    for (String word : new String[] {"child a 1", "failure-1", ""}) {
      assertThat(parent.derived(word).shard()).isEqualTo(parent.shard());
      assertThat(parent.derived(word)).isNotEqualTo(parent);
    }
  }

  @Test
  void an_id_of_another_shard_is_refused_with_the_expected_digits() {
    Shard shard = Shard.of("default", "order-42");
    shard.require("run_id", RunId.next(shard), "namespace and external_id");

    assertThatThrownBy(
            () ->
                shard.require("run_id", RunId.next(new Shard(0x1111)), "namespace and external_id"))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("run_id")
        .hasMessageContaining("6871")
        .hasMessageContaining("namespace and external_id");
  }

  /** A new place that makes an id has to decide on its shard. */
  @Test
  void every_place_that_makes_an_id_is_known() {
    Set<String> found = new TreeSet<>();
    new ClassFileImporter()
        .importUrl(Engine.class.getProtectionDomain().getCodeSource().getLocation())
        .forEach(
            type ->
                type.getCodeUnitAccessesFromSelf().stream()
                    .filter(ShardTest::makesId)
                    .forEach(call -> found.add(place(call))));

    assertThat(found).isEqualTo(new TreeSet<>(PLACES.keySet()));
  }

  @Test
  void the_database_makes_no_ids() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        // Its function chooses ids in the shard of the external id: StartRequestsTest.
        if (file.endsWith("V9__start_requests.sql")) {
          continue;
        }
        assertThat(Files.readString(file))
            .as("%s", file)
            .doesNotContainPattern("(?i)gen_random_uuid|uuid_generate|uuidv[47]\\(");
      }
    }
  }

  private static boolean makesId(JavaCodeUnitAccess<?> access) {
    String owner = access.getTargetOwner().getName();
    return switch (access.getName()) {
      case "next", "derived" -> owner.equals(RunId.class.getName());
      case "<init>", "randomUUID", "nameUUIDFromBytes" -> owner.equals(UUID.class.getName());
      default ->
          owner.startsWith("com.fasterxml.uuid.")
              && !access.getOriginOwner().getName().equals(RunId.class.getName());
    };
  }

  private static String place(JavaCodeUnitAccess<?> access) {
    String parameters =
        access.getTarget().getRawParameterTypes().stream()
            .map(JavaClass::getSimpleName)
            .collect(Collectors.joining(", ", "(", ")"));
    boolean isConstructor = access.getName().equals("<init>");
    return access.getOriginOwner().getName().substring("dev.kagzi.engine.".length())
        + "."
        + access.getOrigin().getName()
        + " "
        + (isConstructor ? access.getTargetOwner().getSimpleName() : access.getName())
        + parameters;
  }
}
