"""Names that conventions and instrumentations use for one and the same thing, the better known first.

OpenTelemetry's GenAI conventions (old and new names), OpenInference, OpenLLMetry, the Vercel AI SDK and
spellings seen in the wild. `llm.token_count.prompt_details.cache_input` is left out on purpose: one
instrumentation writes the text tokens of the prompt there.
"""

_G = "gen_ai.usage."
_D = "gen_ai.usage.details."
_L = "llm.token_count."
_M = "ai.response.providerMetadata."

TOKENS: dict[str, tuple[str, ...]] = {
    "input": (
        f"{_G}input_tokens",
        f"{_G}prompt_tokens",
        f"{_L}prompt",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
        "llm.usage.prompt_tokens",
        "llm.usage.input_tokens",
    ),
    "output": (
        f"{_G}output_tokens",
        f"{_G}completion_tokens",
        f"{_L}completion",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
        "llm.usage.completion_tokens",
        "llm.usage.output_tokens",
    ),
    "total": (f"{_G}total_tokens", f"{_L}total", "llm.usage.total_tokens", "ai.usage.totalTokens", "ai.usage.tokens"),
    "cache_read": (
        f"{_G}cache_read.input_tokens",
        f"{_G}cache_read_input_tokens",
        f"{_G}cache_read_tokens",
        f"{_G}input_cached_tokens",
        f"{_D}cache_read_tokens",
        f"{_D}cache_read_input_tokens",
        f"{_L}prompt_details.cache_read",
        "ai.usage.inputTokenDetails.cacheReadTokens",
        "ai.usage.cachedInputTokens",
        f"{_M}openai.cachedPromptTokens",
        f"{_M}azure.cachedPromptTokens",
        f"{_M}xai.cachedPromptTokens",
        f"{_M}deepseek.promptCacheHitTokens",
        f"{_M}anthropic.cacheReadInputTokens",
        f"{_M}bedrock.usage.cacheReadInputTokens",
        "llm.usage.cache_read_input_tokens",
        "llm.anthropic.usage.cache_read_input_tokens",
    ),
    "cache_write": (
        f"{_G}cache_write.input_tokens",
        f"{_G}cache_creation.input_tokens",
        f"{_G}cache_creation_input_tokens",
        f"{_G}cache_write_input_tokens",
        f"{_G}cache_write_tokens",
        f"{_G}input_cache_creation",
        f"{_D}cache_write_tokens",
        f"{_D}cache_creation_input_tokens",
        f"{_L}prompt_details.cache_write",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
        f"{_M}anthropic.cacheCreationInputTokens",
        f"{_M}bedrock.usage.cacheWriteInputTokens",
        "llm.usage.cache_creation_input_tokens",
        "llm.anthropic.usage.cache_creation_input_tokens",
    ),
    "reasoning": (
        f"{_G}reasoning.output_tokens",
        f"{_G}reasoning_tokens",
        "llm.usage.reasoning_tokens",
        f"{_D}reasoning_tokens",
        f"{_L}completion_details.reasoning",
        "ai.usage.outputTokenDetails.reasoningTokens",
        "ai.usage.reasoningTokens",
        f"{_M}openai.reasoningTokens",
        f"{_M}xai.reasoningTokens",
    ),
    "input_audio": (f"{_G}audio.input_tokens", f"{_D}input_audio_tokens", f"{_L}prompt_details.audio"),
    "cache_read_audio": (f"{_G}audio.cache_read.input_tokens", f"{_D}cache_audio_read_tokens"),
    "output_audio": (f"{_G}audio.output_tokens", f"{_D}output_audio_tokens", f"{_L}completion_details.audio"),
    "input_image": (f"{_G}image.input_tokens",),
    "cache_read_image": (f"{_G}image.cache_read.input_tokens",),
    "output_image": (f"{_G}image.output_tokens",),
}
"""Field of `Reported` → attributes that carry it; JSON inside `ai.response.providerMetadata` under its dotted names."""

UNCACHED = "ai.usage.inputTokenDetails.noCacheTokens"
"""What the Vercel AI SDK writes since its version 6, whose input count holds the cached tokens of every provider."""

MODEL = (
    "gen_ai.response.model",
    "llm.response.model_name",
    "llm.model_name",
    "embedding.model_name",
    "ai.response.model",
    "ai.model.id",
    "gen_ai.request.model",
    "llm.request.model_name",
    "langfuse.observation.model.name",
)
"""Prices follow the model that answered, so the response's comes first."""
PROVIDER = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider")
RESPONSE_ID = ("gen_ai.response.id", "ai.response.id", "llm.response.id")
SERVICE_TIER = ("gen_ai.openai.response.service_tier", "openai.response.service_tier", "gen_ai.response.service_tier")
CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id",
)
TOOL = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
WORKFLOW_NAME = ("gen_ai.workflow.name", "traceloop.workflow.name")
AGENT = ("gen_ai.agent.name", "agent.name", "agent_name")
WORKFLOW = (*WORKFLOW_NAME, *AGENT)
SOURCE_COST = ("llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.cost_usd", "operation.cost")
"""USD that the instrumentation computed itself; `llm.cost.*_details.*` hold token counts at times and are not read."""
RESPONSE_CACHE_HIT = ("gen_ai.response.cache_hit", "litellm.cache_hit")
"""True where the application answered from a cache of its own, so that no provider was asked."""
STREAMED = ("gen_ai.request.stream", "gen_ai.is_streaming", "llm.is_streaming")

PROVIDERS = {
    "aws.bedrock": "aws",
    "aws_bedrock": "aws",
    "bedrock": "aws",
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "az.ai.openai": "azure",
    "az.ai.inference": "azure",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "gemini": "google",
    "vertex_ai": "google",
    "vertexai": "google",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "x_ai": "x-ai",
    "xai": "x-ai",
    "moonshot_ai": "moonshotai",
    "amazon-bedrock": "aws",
    "amazon_bedrock": "aws",
    "azure-openai": "azure",
    "azure_openai": "azure",
    "azure_ai": "azure",
    "gcp": "google",
    "googleai": "google",
    "google_genai": "google",
    "google-vertex": "google",
    "vertex": "google",
}
"""Name in a convention → id of the price book; a name that is not here is its own id."""

OPERATIONS = {
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
    "embeddings": "model",
    "completion": "model",
    "retrieval": "retrieval",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "agent_step": "agent",
    "invoke_workflow": "workflow",
    "plan": "agent",
    # OpenInference
    "llm": "model",
    "embedding": "model",
    "reranker": "model",
    "retriever": "retrieval",
    "tool": "tool",
    "agent": "agent",
    "chain": "workflow",
    "guardrail": "other",
    "evaluator": "other",
    "prompt": "other",
    # OpenLLMetry
    "workflow": "workflow",
    "task": "other",
    "rerank": "model",
    # Langfuse
    "generation": "model",
    # Genkit
    "model": "model",
    "embedder": "model",
    "tool.v2": "tool",
    "flow": "workflow",
}
"""What an operation, or a span's kind, is called → what it is."""
OPERATION = (
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
    "langfuse.observation.type",
    "genkit:metadata:subtype",
)
EMBEDDINGS = ("embeddings", "embedding", "embedder")
"""Operations that answer with vectors: no token comes out."""

EXCLUSIVE_SCOPES = (
    "openinference.instrumentation.bedrock",
    "opentelemetry.instrumentation.bedrock",
    "strands",
)
"""Instrumentations that pass on a provider's input count without its cached tokens."""
INCLUSIVE_SCOPES = (
    "openinference.instrumentation.",
    "opentelemetry.instrumentation.",
    "opentelemetry.util.genai",
    "pydantic-ai",
    "logfire",
)
"""Instrumentations that put the cached tokens into the input count, whatever version of the conventions they name."""
EXCLUSIVE_PROVIDERS = ("anthropic", "aws")
"""Providers whose own input count leaves the cached tokens out."""
INCLUSIVE_SINCE = (1, 40)
"""First version of OpenTelemetry's conventions that says that the input count holds the cached tokens."""

PAYLOAD_PREFIXES = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
    "gen_ai.retrieval.",
    "gen_ai.memory.",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.event.content",
    "input.value",
    "output.value",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "llm.completions",
    "llm.invocation_parameters",
    "llm.tools",
    "tool.parameters",
    "tool_call.",
    "retrieval.documents",
    "embedding.embeddings",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "ai.prompt",
    "ai.response.text",
    "ai.response.object",
    "ai.response.toolCalls",
    "ai.toolCall.args",
    "ai.toolCall.result",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_call_args",
    "gcp.vertex.agent.tool_response",
    "genkit:input",
    "genkit:output",
    "exception.message",
    "exception.stacktrace",
)
"""Attributes that hold payload; readers fingerprint and drop them. Nothing outside the tables above is read, but for
the usage and the id in a provider's own answer (`semconv_native`)."""
INPUT_PAYLOAD = (
    "gen_ai.input.messages",
    "input.value",
    "traceloop.entity.input",
    "ai.prompt.messages",
    "ai.prompt",
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    "langfuse.observation.input",
    "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.tool_call_args",
    "genkit:input",
)
OUTPUT_PAYLOAD = (
    "gen_ai.output.messages",
    "output.value",
    "traceloop.entity.output",
    "ai.response.text",
    "ai.response.object",
    "ai.response.toolCalls",
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "langfuse.observation.output",
    "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_response",
    "genkit:output",
)
"""Where a span's input and output stand, for their fingerprints."""
OF_EVENTS = frozenset(
    {
        *(alias for aliases in TOKENS.values() for alias in aliases),
        *(*MODEL, *PROVIDER, *RESPONSE_ID, *SERVICE_TIER, *OPERATION, *INPUT_PAYLOAD, *OUTPUT_PAYLOAD),
    }
)
"""Attributes that conventions of some versions put on an event of the span (`gen_ai.*`) in place of the span."""
