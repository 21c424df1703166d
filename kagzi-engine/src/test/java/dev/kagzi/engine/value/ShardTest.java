package dev.kagzi.engine.value;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kagzi.engine.Engine;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ShardTest {
  /** Who may make an id in a random shard, and for what. */
  private static final Map<String, String> RANDOM =
      Map.ofEntries(
          Map.entry("dev.kagzi.engine.Engine", "the id of a server"),
          Map.entry("dev.kagzi.engine.namespace.Namespaces", "the id of a namespace"),
          Map.entry("dev.kagzi.engine.internal.request.IdempotentCall", "the id of a call"),
          Map.entry("dev.kagzi.engine.run.Runs", "a run without an external id"),
          Map.entry("dev.kagzi.engine.schedule.Schedules", "a schedule without a name"),
          Map.entry("dev.kagzi.engine.value.RunId", "the id before it gets its shard"),
          Map.entry("dev.kagzi.engine.value.WorkerId", "the id of a worker"),
          Map.entry("dev.kagzi.engine.internal.worker.AttachStreams", "the id of a stream"));

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
  void every_place_that_makes_an_id_in_a_random_shard_is_known() {
    var engine =
        new ClassFileImporter()
            .importUrl(Engine.class.getProtectionDomain().getCodeSource().getLocation());

    Set<String> found =
        engine.stream()
            .flatMap(type -> type.getMethodCallsFromSelf().stream())
            .filter(call -> call.getTarget().getFullName().equals(RANDOM_ID))
            .map(call -> call.getOriginOwner().getName())
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(found).isEqualTo(new TreeSet<>(RANDOM.keySet()));
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.kagzi.engine.value")
        .should()
        .callMethodWhere(makesUuid())
        .check(engine);
  }

  private static final String RANDOM_ID = RunId.class.getName() + ".next()";

  private static DescribedPredicate<JavaMethodCall> makesUuid() {
    return DescribedPredicate.describe(
        "a random UUID is made",
        call ->
            call.getTarget().getFullName().startsWith("java.util.UUID.randomUUID(")
                || call.getTargetOwner().getName().startsWith("com.fasterxml.uuid."));
  }
}
