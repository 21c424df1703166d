package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class StreamPumpTest {
  private final FakeStream<String> stream = new FakeStream<>();
  private final Deque<String> source = new ArrayDeque<>();
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final StreamPump<String> pump = new StreamPump<>(stream, tasks::add, source::poll);

  @Test
  void messages_wait_with_the_source_until_the_stream_has_room() {
    source.add("a");
    source.add("b");
    source.add("c");
    stream.room = 2;
    wake();

    assertThat(stream.messages).containsExactly("a", "b");
    assertThat(source).containsExactly("c");

    stream.room = 3;
    wake();
    assertThat(stream.messages).containsExactly("a", "b", "c");
  }

  @Test
  void wakes_that_come_before_the_pump_has_run_are_one_task() {
    pump.wake();
    pump.wake();
    pump.wake();

    assertThat(tasks).hasSize(1);
  }

  @Test
  void completion_comes_after_everything_that_is_left() {
    source.add("a");
    source.add("b");
    stream.room = 1;
    pump.complete();
    runTasks();
    assertThat(stream.completed).isFalse();

    stream.room = 10;
    wake();

    assertThat(stream.messages).containsExactly("a", "b");
    assertThat(stream.completed).isTrue();
  }

  @Test
  void a_failure_does_not_wait_for_what_is_left() {
    source.add("a");
    stream.room = 10;

    pump.fail(Errors.of(Errors.stopping()));
    runTasks();

    assertThat(stream.messages).isEmpty();
    assertThat(stream.problem).isNotNull();
  }

  @Test
  void a_stream_ends_once() {
    pump.fail(Errors.of(Errors.stopping()));
    runTasks();
    stream.problem = null;

    pump.complete();
    runTasks();

    assertThat(stream.completed).isFalse();
    assertThat(stream.problem).isNull();
  }

  @Test
  void nothing_is_sent_to_a_caller_that_has_gone() {
    stream.cancelled = true;
    stream.room = 10;
    source.add("a");

    wake();

    assertThat(stream.messages).isEmpty();
  }

  private void wake() {
    pump.wake();
    runTasks();
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }
}
