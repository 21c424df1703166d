package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.internal.wire.BatchSender.Lane;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@NullMarked
class BatchSenderTest {
  private static final int MEGABYTE = 1 << 20;
  private static final String TEMPORARILY_REFUSED = "not now";

  private final Connection connection =
      new Connection(
          Channels.inProcess("nobody", UnaryOperator.identity()),
          "nobody",
          "default",
          Duration.ofSeconds(10));
  private final Words sender = new Words(connection);
  private final Throwable broken = Status.UNAVAILABLE.asException();

  @AfterEach
  void close() {
    connection.close();
  }

  @Test
  void an_item_is_sent_at_once_and_items_that_arrive_during_two_calls_share_the_next() {
    sender.send("a");
    sender.send("b");
    sender.send("c");
    sender.send("d");
    assertThat(sender.sent()).containsExactly("a", "b");

    sender.calls.getFirst().answer("A");

    assertThat(sender.sent()).containsExactly("a", "b", "cd");
    sender.calls.get(2).answer("C", "D");
    sender.calls.get(1).answer("B");
    assertThat(sender.results).containsExactly("a=A", "c=C", "d=D", "b=B");
  }

  @Test
  void a_call_has_no_more_items_than_the_maximum() {
    occupyCalls();
    sender.send(IntStream.range(0, 12).mapToObj(i -> "x").toArray(String[]::new));

    sender.calls.getFirst().answer("");

    assertThat(sender.calls.getLast().batch).hasSize(10);
  }

  @Test
  void a_call_has_no_more_bytes_than_the_maximum_unless_one_item_alone_has_more() {
    occupyCalls();
    sender.send(new Word("a", 2 * MEGABYTE));
    sender.send(new Word("b", 2 * MEGABYTE));
    sender.send(new Word("c", 4 * MEGABYTE));
    sender.send(new Word("d", 1));

    IntStream.range(0, 4).forEach(i -> sender.calls.get(i).answer(""));

    assertThat(sender.sent()).containsExactly("1", "2", "a", "b", "c", "d");
  }

  @Test
  void items_of_a_lane_share_a_call_or_wait_for_the_answer_to_the_previous_ones() {
    Lane<Word> lane = new Lane<>();
    sender.send(lane, "a", "b");
    sender.send(lane, "c");
    sender.send("z");
    assertThat(sender.sent()).containsExactly("ab", "z");

    sender.calls.getFirst().answer("A", "B");

    assertThat(sender.sent()).containsExactly("ab", "z", "c");
  }

  @Test
  void items_of_a_failed_call_are_sent_again_after_a_pause_in_their_order_and_first() {
    Lane<Word> lane = new Lane<>();
    sender.send(lane, "a", "b");
    sender.send(lane, "c");
    sender.calls.getFirst().onError(broken);
    sender.send("z");
    assertThat(sender.sent()).containsExactly("ab");
    assertThat(sender.lastError()).isEqualTo(broken);

    await().until(() -> sender.calls.size() == 2);

    assertThat(sender.sent()).containsExactly("ab", "abcz");
    sender.calls.getLast().answer("A", "B", "C", "Z");
    assertThat(sender.results).containsExactly("a=A", "b=B", "c=C", "z=Z");
    assertThat(sender.lastError()).isNull();
  }

  @Test
  void an_item_that_is_refused_for_now_is_sent_again_and_the_others_of_its_call_are_answered() {
    occupyCalls();
    sender.send("a");
    sender.send("b");
    sender.calls.getFirst().answer("");

    sender.calls.getLast().answer(TEMPORARILY_REFUSED, "B");

    assertThat(sender.results).containsExactly("1=", "b=B");
    assertThat(sender.lastError()).hasMessage(TEMPORARILY_REFUSED);
    await().until(() -> sender.calls.size() == 4);
    assertThat(sender.sent()).endsWith("a");
  }

  @Test
  void an_item_that_makes_its_call_fail_is_found_by_sending_each_alone() {
    occupyCalls();
    sender.send("a");
    sender.send("b");
    sender.send("c");
    sender.calls.getFirst().answer("");
    sender.calls.get(1).answer("");

    sender.calls.getLast().onError(Status.INVALID_ARGUMENT.asException());
    await().until(() -> sender.calls.size() == 5);
    sender.calls.get(3).answer("A");
    sender.calls.get(4).onError(Status.INVALID_ARGUMENT.asException());
    sender.calls.get(5).answer("C");

    assertThat(sender.sent()).containsExactly("1", "2", "abc", "a", "b", "c");
    assertThat(sender.results).contains("a=A", "b failed: INVALID_ARGUMENT", "c=C");
    occupyCalls();
    sender.send("d");
    sender.send("e");
    sender.calls.get(6).answer("");
    assertThat(sender.sent()).as("together again").endsWith("de");
  }

  @Test
  void a_response_without_one_result_per_item_is_a_failed_call() {
    sender.send("a");

    sender.calls.getFirst().answer("A", "B");

    assertThat(sender.results)
        .containsExactly("a failed: word: 2 results of 1 items (expected: one result per item)");
  }

  @Test
  void a_call_that_throws_is_a_failed_call() {
    sender.throwOnce = new IllegalStateException("thrown by an interceptor");

    sender.send("a");

    assertThat(sender.results).containsExactly("a failed: thrown by an interceptor");
  }

  @Test
  void calls_that_are_answered_while_they_are_sent_are_not_nested() {
    occupyCalls();
    IntStream.range(0, 30).forEach(i -> sender.send("x"));
    sender.answerAtOnce = true;

    sender.calls.getFirst().answer("");

    assertThat(sender.results).hasSize(31);
    assertThat(sender.nestedMax).isOne();
  }

  @Test
  void a_close_fails_what_is_queued_and_a_call_in_flight_is_not_retried() {
    Lane<Word> lane = new Lane<>();
    sender.send(lane, "a");
    sender.send(lane, "b");
    sender.send("c");
    sender.send("d");

    sender.close(new IllegalStateException("closed"));

    assertThat(sender.results).containsExactly("d failed: closed");
    sender.calls.getFirst().answer("A");
    sender.calls.get(1).onError(broken);
    assertThat(sender.results)
        .containsExactly("d failed: closed", "b failed: closed", "a=A", "c failed: UNAVAILABLE");
    assertThatThrownBy(() -> sender.send("e")).hasMessage("client: closed (expected: open)");
  }

  @Test
  void an_item_that_nobody_waits_for_is_not_sent_again() {
    Word given = new Word("a", 1);
    sender.send(given);
    given.done = true;

    sender.calls.getFirst().onError(broken);
    sender.send("b");

    await().until(() -> sender.calls.size() == 2);
    assertThat(sender.sent()).containsExactly("a", "b");
  }

  @Test
  void a_queued_item_that_nobody_waits_for_can_be_removed() {
    occupyCalls();
    Word given = new Word("a", 1);
    sender.send(given);
    sender.send("b");
    given.done = true;

    sender.removeDone();
    sender.calls.getFirst().answer("");

    assertThat(sender.sent()).containsExactly("1", "2", "b");
  }

  private void occupyCalls() {
    sender.send("1");
    sender.send("2");
  }

  private static final class Word extends BatchSender.Item<Word> {
    final String text;
    volatile boolean done;

    Word(String text, int bytes) {
      this(new Lane<>(), text, bytes);
    }

    Word(Lane<Word> lane, String text, int bytes) {
      super(lane, bytes);
      this.text = text;
    }

    @Override
    protected boolean isDone() {
      return done;
    }
  }

  /** One call, which the test answers. */
  private record Call(List<Word> batch, StreamObserver<List<String>> observer) {
    void answer(String... results) {
      observer.onNext(List.of(results));
      observer.onCompleted();
    }

    void onError(Throwable error) {
      observer.onError(error);
    }
  }

  private static final class Words extends BatchSender<Word, List<String>, String> {
    final List<Call> calls = new CopyOnWriteArrayList<>();
    final List<String> results = new CopyOnWriteArrayList<>();
    volatile @Nullable RuntimeException throwOnce;
    boolean answerAtOnce;
    private int nested;
    int nestedMax;

    Words(Connection connection) {
      super(connection, "word", 10, new Backoff(20, 1_000));
    }

    void send(String... words) {
      Stream.of(words).forEach(word -> send(new Word(word, 1)));
    }

    void send(Word word) {
      send(word.lane, List.of(word));
    }

    void send(Lane<Word> lane, String... words) {
      send(lane, Stream.of(words).map(word -> new Word(lane, word, 1)).toList());
    }

    List<String> sent() {
      return calls.stream()
          .map(call -> String.join("", call.batch.stream().map(word -> word.text).toList()))
          .toList();
    }

    @Override
    protected void call(List<Word> batch, StreamObserver<List<String>> answer) {
      RuntimeException thrown = throwOnce;
      if (thrown != null) {
        throwOnce = null;
        throw thrown;
      }
      Call call = new Call(batch, answer);
      calls.add(call);
      if (answerAtOnce) {
        nestedMax = Math.max(nestedMax, ++nested);
        call.answer(batch.stream().map(word -> word.text).toArray(String[]::new));
        nested--;
      }
    }

    @Override
    protected List<String> results(List<String> response) {
      return response;
    }

    @Override
    protected @Nullable Throwable temporaryRefusal(String result) {
      return result.equals(TEMPORARILY_REFUSED) ? new IllegalStateException(result) : null;
    }

    @Override
    protected void answered(Word word, String result) {
      results.add(word.text + "=" + result);
    }

    @Override
    protected Retry afterFailure(List<Word> batch, Throwable error) {
      return switch (RpcErrors.code(error)) {
        case UNAVAILABLE -> Retry.YES;
        case INVALID_ARGUMENT -> batch.size() > 1 ? Retry.ALONE : Retry.NO;
        default -> Retry.NO;
      };
    }

    @Override
    protected void failed(Word word, Throwable error) {
      results.add(word.text + " failed: " + error.getMessage());
    }
  }
}
