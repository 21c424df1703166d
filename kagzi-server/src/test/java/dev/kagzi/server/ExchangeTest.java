package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ExchangeRequest;
import dev.kagzi.protocol.v1.ExchangeResponse;
import dev.kagzi.protocol.v1.ExchangeServiceGrpc;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls that share a stream, as a bare client makes them. */
class ExchangeTest {
  private static final String START = "kagzi.v1.WorkflowService/StartWorkflow";
  private static final String GET = "kagzi.v1.WorkflowService/GetWorkflow";
  private static final String AWAIT = "kagzi.v1.WorkflowService/AwaitWorkflow";
  private static final String POLL = "kagzi.v1.WorkerService/PollTask";

  private TestServer server;
  private BareStream stream;

  @BeforeEach
  void open() {
    server = TestServer.start();
    stream = new BareStream(server);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static final class BareStream implements StreamObserver<ExchangeResponse> {
    final BlockingQueue<ExchangeResponse> answers = new LinkedBlockingQueue<>();
    final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
    final StreamObserver<ExchangeRequest> out;

    BareStream(TestServer server) {
      this.out = ExchangeServiceGrpc.newStub(server.sharedChannel()).exchange(this);
    }

    void call(long id, String method, MessageLite request) {
      call(id, method, request.toByteString());
    }

    void call(long id, String method, ByteString request) {
      out.onNext(
          ExchangeRequest.newBuilder().setCallId(id).setMethod(method).setRequest(request).build());
    }

    void giveUp(long id) {
      out.onNext(ExchangeRequest.newBuilder().setCallId(id).build());
    }

    ExchangeResponse answer(long id) throws InterruptedException {
      ExchangeResponse answer = answers.poll(10, TimeUnit.SECONDS);
      assertThat(answer).as("an answer within 10 s").isNotNull();
      assertThat(answer.getCallId()).isEqualTo(id);
      return answer;
    }

    ErrorDetail refusal(long id, Status.Code code) throws Exception {
      ExchangeResponse answer = answer(id);
      assertThat(Status.fromCodeValue(answer.getCode()).getCode()).isEqualTo(code);
      ErrorDetail detail =
          com.google.rpc.Status.parseFrom(answer.getDetails())
              .getDetails(0)
              .unpack(ErrorDetail.class);
      assertThat(detail.getMessage()).isEqualTo(answer.getMessage());
      return detail;
    }

    @Override
    public void onNext(ExchangeResponse answer) {
      answers.add(answer);
    }

    @Override
    public void onError(Throwable problem) {
      end.completeExceptionally(problem);
    }

    @Override
    public void onCompleted() {
      end.complete(null);
    }
  }

  @Test
  void a_call_over_the_stream_says_what_a_call_of_its_own_says() throws Exception {
    stream.call(7, START, TestServer.start("q", "order").build());
    String run = StartWorkflowResponse.parseFrom(stream.answer(7).getResponse()).getRunId();

    stream.call(8, GET, GetWorkflowRequest.newBuilder().setRunId(run).build());
    ExchangeResponse got = stream.answer(8);

    assertThat(got.getCode()).isZero();
    assertThat(GetWorkflowResponse.parseFrom(got.getResponse()).getWorkflow())
        .isEqualTo(server.run(run));
  }

  @Test
  void an_answer_does_not_wait_for_an_earlier_call() throws Exception {
    String run = server.startRun("nobody", "order");
    stream.call(1, AWAIT, AwaitWorkflowRequest.newBuilder().setRunId(run).build());
    stream.call(2, GET, GetWorkflowRequest.newBuilder().setRunId(run).build());

    stream.answer(2);
    server
        .workflows()
        .cancelWorkflow(
            dev.kagzi.protocol.v1.CancelWorkflowRequest.newBuilder().setRunId(run).build());

    assertThat(stream.answer(1).getCode()).isZero();
  }

  @Test
  void what_is_wrong_with_one_call_is_told_to_it_alone() throws Exception {
    stream.call(1, GET, GetWorkflowRequest.newBuilder().setRunId("no-id").build());
    assertThat(stream.refusal(1, Status.Code.INVALID_ARGUMENT).getMessage()).contains("no-id");
    stream.call(2, GET, ByteString.copyFromUtf8("\u0007\u0007 no message"));
    stream.refusal(2, Status.Code.INVALID_ARGUMENT);
    stream.call(3, "kagzi.v1.WorkflowService/Nonsense", ByteString.EMPTY);
    assertThat(stream.refusal(3, Status.Code.UNIMPLEMENTED).getMessage()).contains("Nonsense");
    stream.call(4, "kagzi.v1.WorkflowService/WatchWorkflows", ByteString.EMPTY);
    stream.refusal(4, Status.Code.UNIMPLEMENTED);
    stream.giveUp(99);

    stream.call(5, START, TestServer.start("q", "order").build());
    assertThat(stream.answer(5).getCode()).isZero();
  }

  @Test
  void the_id_of_an_open_call_is_not_taken_again() throws Exception {
    String run = server.startRun("nobody", "order");
    stream.call(1, AWAIT, AwaitWorkflowRequest.newBuilder().setRunId(run).build());
    stream.call(1, GET, GetWorkflowRequest.newBuilder().setRunId(run).build());

    assertThat(stream.refusal(1, Status.Code.INVALID_ARGUMENT).getMessage()).contains("call_id");
  }

  @Test
  void a_poll_that_is_given_up_takes_no_work() throws Exception {
    BareWorker worker = new BareWorker(server, "given-up", "h", 1, "order");
    stream.call(1, POLL, poll(worker, "given-up"));
    await().until(() -> server.server().openCalls() == 2);

    stream.giveUp(1);
    await().until(() -> server.server().openCalls() == 1);
    String run = server.startRun("given-up", "order");
    stream.call(2, POLL, poll(worker, "given-up"));

    PollTaskResponse task = PollTaskResponse.parseFrom(stream.answer(2).getResponse());
    assertThat(task.getRunId()).isEqualTo(run);
    worker.close();
  }

  @Test
  void with_its_stream_a_caller_s_polls_are_gone() throws Exception {
    BareWorker worker = new BareWorker(server, "broken", "h", 1, "order");
    stream.call(1, POLL, poll(worker, "broken"));
    await().until(() -> server.server().openCalls() == 2);

    stream.out.onError(Status.CANCELLED.asException());

    await().atMost(Duration.ofSeconds(10)).until(() -> server.server().openCalls() == 0);
    worker.close();
  }

  @Test
  void a_stopping_server_answers_what_waits_and_ends_the_stream() throws Exception {
    BareWorker worker = new BareWorker(server, "stopping", "h", 1, "order");
    stream.call(1, POLL, poll(worker, "stopping"));
    await().until(() -> server.server().openCalls() == 2);

    long before = System.nanoTime();
    server.server().close();

    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(4));
    stream.refusal(1, Status.Code.UNAVAILABLE);
    stream.end.get(5, TimeUnit.SECONDS);
    worker.close();
  }

  @Test
  void a_caller_that_has_no_more_to_say_still_gets_its_answers() throws Exception {
    stream.call(1, START, TestServer.start("q", "order").build());
    stream.out.onCompleted();

    assertThat(stream.answer(1).getCode()).isZero();
    stream.end.get(5, TimeUnit.SECONDS);
  }

  private static PollTaskRequest poll(BareWorker worker, String queue) {
    return PollTaskRequest.newBuilder()
        .setWorkerId(worker.id())
        .setTaskQueue(queue)
        .addWorkflowTypes("order")
        .build();
  }
}
