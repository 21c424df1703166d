package dev.kagzi.engine.internal.notification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import org.junit.jupiter.api.Test;

class PendingMessagesTest {
  private static final QueueName QUEUE = new QueueName("default", "q");
  private static final TypeVersion TYPE = new TypeVersion("t", "");

  private final PendingMessages pending = new PendingMessages();

  @Test
  void due_runs_of_a_type_wait_as_one_message_with_their_sum() throws Exception {
    ServerMessage other = new ServerMessage.Ended(RunId.next());

    pending.add(work(0, 1));
    pending.add(other);
    pending.add(work(0, 2));
    pending.add(work(50, 1));

    assertThat(pending.take()).containsExactly(work(0, 3), other, work(50, 1));
  }

  @Test
  void an_unknown_number_stays_unknown() throws Exception {
    pending.add(work(0, 1));
    pending.add(work(0, ServerMessage.Work.UNKNOWN));
    pending.add(work(0, 1));

    assertThat(pending.take()).containsExactly(work(0, ServerMessage.Work.UNKNOWN));
  }

  @Test
  void a_message_without_a_number_is_of_an_older_server() {
    String line = work(0, 7).encode();

    assertThat(ServerMessage.decode(line)).contains(work(0, 7));
    assertThat(ServerMessage.decode(line.substring(0, line.lastIndexOf(' '))))
        .contains(work(0, ServerMessage.Work.UNKNOWN));
  }

  private static ServerMessage work(long delayMs, int runs) {
    return new ServerMessage.Work(QUEUE, TYPE, delayMs, runs);
  }
}
