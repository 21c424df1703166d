package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RunIdsTest {
  private static final String ID = "0198c2a4-7d1e-7a3b-9c4d-5e6f7a8b0c0d";

  /** The server has the same values in its own test. */
  @Test
  void a_shard_follows_from_namespace_and_key() {
    assertThat(RunIds.shard("default", "order-42")).isEqualTo("6871");
    assertThat(RunIds.shard("", "order-42")).isEqualTo("6871");
    assertThat(RunIds.shard("shop", "ü")).isEqualTo("f34b");
  }

  @Test
  void an_id_ends_with_its_shard() {
    assertThat(RunIds.next("default", "order-42")).endsWith("6871");
    assertThat(RunIds.nextBeside(ID)).endsWith("0c0d").isNotEqualTo(ID);
    assertThat(UUID.fromString(RunIds.nextBeside(ID)).version()).isEqualTo(7);
    assertThat(UUID.fromString(RunIds.next("default", "")).version()).isEqualTo(7);
  }

  @Test
  void ids_of_one_shard_differ_although_they_are_made_in_the_same_millisecond() {
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      ids.add(RunIds.next("default", "order-42"));
    }

    assertThat(ids).hasSize(10_000);
  }

  @Test
  void requests_get_ids_in_the_shard_of_what_they_belong_to() {
    assertThat(
            RequestIds.withId(StartWorkflowRequest.newBuilder().setExternalId("order-42").build())
                .getRunId())
        .endsWith("6871");
    StartWorkflowRequest child = StartWorkflowRequest.newBuilder().setParentRunId(ID).build();
    assertThat(RequestIds.withId(child).getRunId()).endsWith("0c0d");
    assertThat(RequestIds.withId(child.toBuilder().setExternalId("order-42").build()).getRunId())
        .endsWith("6871");
    assertThat(
            RequestIds.withId(RetryWorkflowRequest.newBuilder().setRunId(ID).build()).getNewRunId())
        .endsWith("0c0d");
    assertThat(
            RequestIds.withId(TriggerWorkflowScheduleRequest.newBuilder().setScheduleId(ID).build())
                .getRunId())
        .endsWith("0c0d");
    CreateWorkflowScheduleRequest create =
        RequestIds.withId(CreateWorkflowScheduleRequest.newBuilder().setName("order-42").build());
    assertThat(create.getScheduleId()).endsWith("6871");
    assertThat(RequestIds.withId(create)).isEqualTo(create);
  }

  /** Every place outside of RunIds that makes an id; a new one has to decide on its shard. */
  private static final Map<String, String> PLACES =
      Map.ofEntries(
          Map.entry("internal.client.RunCalls.start ofStart", "the external id, else the parent"),
          Map.entry(
              "internal.run.DerivedValues.nameBased <init>",
              "none: a value of the workflow's code"),
          Map.entry("internal.wire.RequestIds.withId next", "random: a call"),
          Map.entry(
              "internal.wire.RequestIds.withOwnId next",
              "the name of the schedule; random: a signal"),
          Map.entry(
              "internal.wire.RequestIds.withOwnId nextBeside", "the retried run, or the schedule"),
          Map.entry(
              "internal.wire.RequestIds.withOwnId ofStart", "the external id, else the parent"),
          Map.entry("internal.wire.RequestIds.withOwnIds next", "random: a signal"),
          Map.entry("internal.wire.RequestIds.withOwnIds ofStart", "the external id"),
          Map.entry(
              "internal.worker.WorkerSettings.registerRequest randomUUID",
              "random: an instance of a worker"),
          Map.entry("RunHandle.signalInOutbox randomUUID", "random: a signal"),
          Map.entry("WorkflowStarter.insert ofStart", "the external id"));

  @Test
  void every_place_that_makes_an_id_is_known() {
    Set<String> makers =
        Set.of("<init>", "next", "nextBeside", "ofStart", "randomUUID", "nameUUIDFromBytes");
    Set<String> found = new TreeSet<>();
    new ClassFileImporter()
        .importUrl(RunIds.class.getProtectionDomain().getCodeSource().getLocation())
        .forEach(
            type ->
                type.getCodeUnitAccessesFromSelf().stream()
                    .filter(call -> makers.contains(call.getName()))
                    .filter(call -> isOfIds(call.getTargetOwner().getName()))
                    .filter(call -> !isOfIds(call.getOriginOwner().getName()))
                    .forEach(call -> found.add(place(call))));

    assertThat(found).isEqualTo(new TreeSet<>(PLACES.keySet()));
  }

  private static boolean isOfIds(String type) {
    return type.equals(RunIds.class.getName())
        || type.equals(UUID.class.getName())
        || type.startsWith("com.fasterxml.uuid.");
  }

  private static String place(JavaCodeUnitAccess<?> call) {
    String owner = call.getOriginOwner().getName().substring("dev.kagzi.sdk.".length());
    return owner + "." + call.getOrigin().getName() + " " + call.getName();
  }
}
