package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CompletionQueueTest {
  private final CompletionQueue queue =
      new CompletionQueue(new CallMemory(new MemoryConfig(1L << 30)));

  @Test
  void small_completions_share_a_message() {
    for (int i = 0; i < 500; i++) {
      add(100);
    }

    List<WatchWorkflowsResponse> messages = takeAll();

    assertThat(messages).hasSize(1);
    assertThat(messages.get(0).getEndsCount()).isEqualTo(500);
  }

  @Test
  void large_completions_are_sent_alone() {
    add(2 << 20);
    add(2 << 20);

    assertThat(takeAll()).allSatisfy(message -> assertThat(message.getEndsCount()).isEqualTo(1));
  }

  @Test
  void above_the_limit_only_ids_are_kept_and_queried_again_once_the_queue_is_empty() {
    List<RunId> runs = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      runs.add(add(1 << 20));
    }
    assertThat(queue.deferred()).isEmpty();
    assertThat(queue.hasDeferred()).isTrue();

    int sent = takeAll().size();
    List<RunId> deferred = queue.deferred();

    assertThat(sent).isBetween(6, 8);
    assertThat(deferred).containsExactlyElementsOf(runs.subList(sent, runs.size()));
    queue.removeDeferred(deferred.size());
    assertThat(queue.hasDeferred()).isFalse();
  }

  @Test
  void one_completion_is_kept_however_large() {
    add(20 << 20);

    assertThat(takeAll()).hasSize(1);
  }

  private RunId add(int bytes) {
    RunId run = RunId.next();
    Payload output = new Payload(new byte[bytes], Map.of());
    queue.add(run, Optional.of(new RunEnd(run, RunStatus.COMPLETED, output, null)));
    return run;
  }

  private List<WatchWorkflowsResponse> takeAll() {
    List<WatchWorkflowsResponse> messages = new ArrayList<>();
    for (var next = queue.next(); next != null; next = queue.next()) {
      messages.add(next);
    }
    return messages;
  }
}
