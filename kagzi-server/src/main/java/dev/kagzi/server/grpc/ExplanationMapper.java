package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.Explanation;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.WaitRef;

/** Maps explanations to protocol messages. */
final class ExplanationMapper {
  private ExplanationMapper() {}

  static ExplainWorkflowResponse response(Explanation explanation) {
    ExplainWorkflowResponse.Builder message = ExplainWorkflowResponse.newBuilder();
    ResponseMapper.set(explanation.status(), ResponseMapper::status, message::setStatus);
    explanation.causes().forEach(cause -> message.addCauses(cause(cause)));
    return message.build();
  }

  private static dev.kagzi.protocol.v1.WaitCause cause(WaitCause cause) {
    dev.kagzi.protocol.v1.WaitCause.Builder message =
        dev.kagzi.protocol.v1.WaitCause.newBuilder()
            .setCode(cause.code().name())
            .setText(cause.text());
    for (WaitCause.Ref ref : cause.refs()) {
      message.addRefs(WaitRef.newBuilder().setKind(ref.kind().name()).setId(ref.id()));
    }
    ResponseMapper.set(cause.at(), ResponseMapper::timestamp, message::setAt);
    return message.build();
  }
}
