package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.SignalView;
import dev.kagzi.protocol.v1.Signal;
import java.time.Instant;

/** Converts signals of runs. */
final class SignalMapper {
  private SignalMapper() {}

  static Signal signal(SignalView view) {
    Signal.Builder message =
        Signal.newBuilder()
            .setNumber(view.number())
            .setSignalId(view.signalId())
            .setName(view.name())
            .setPayload(ResponseMapper.payload(view.payload()))
            .setSentAt(ResponseMapper.timestamp(view.sentAt()));
    Instant receivedAt = view.receivedAt();
    if (receivedAt != null) {
      message.setReceivedAt(ResponseMapper.timestamp(receivedAt));
    }
    String step = view.stepKey();
    if (step != null) {
      message.setStepKey(step);
    }
    return message.build();
  }
}
