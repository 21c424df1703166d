package dev.kagzi.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The HTTP service that the steps of the Node worker call. It records every call and answers with
 * the statuses that a test has queued, or with 200.
 */
final class Shop implements AutoCloseable {
  private final HttpServer server;
  private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();
  private final Queue<String> all = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> shipStatuses = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> refundStatuses = new ConcurrentLinkedQueue<>();
  private volatile CountDownLatch shipping = new CountDownLatch(0);
  private volatile int answerLength;

  Shop() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void shipAnswers(Integer... statuses) {
    shipStatuses.addAll(java.util.List.of(statuses));
  }

  void refundAnswers(Integer... statuses) {
    refundStatuses.addAll(java.util.List.of(statuses));
  }

  /** Pads later answers to this length. */
  void padAnswers(int length) {
    answerLength = length;
  }

  /** Delays the answers to later "ship" calls until {@link #resumeShipping}. */
  void holdShipping() {
    shipping = new CountDownLatch(1);
  }

  void resumeShipping() {
    shipping.countDown();
  }

  /** Waits for the next call and returns its path. */
  String nextCall() throws InterruptedException {
    String call = calls.poll(90, TimeUnit.SECONDS);
    assertThat(call).as("a call of the shop within 90 s, after %s", all).isNotNull();
    return String.valueOf(call);
  }

  /** Returns all calls so far, in order. */
  Iterable<String> calls() {
    return all;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath().substring(1);
      String item = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      all.add(path);
      calls.add(path);
      if (path.equals("ship")) {
        shipping.await();
      }
      Integer status =
          switch (path) {
            case "ship" -> shipStatuses.poll();
            case "refund" -> refundStatuses.poll();
            default -> null;
          };
      String answer = path + " " + item;
      byte[] text =
          (answer + "!".repeat(Math.max(0, answerLength - answer.length()))).getBytes(UTF_8);
      exchange.sendResponseHeaders(status == null ? 200 : status, text.length);
      exchange.getResponseBody().write(text);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    resumeShipping();
    server.stop(0);
  }
}
