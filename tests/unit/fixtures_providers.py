"""Responses in the form in which each provider documents them; texts and ids are made up.

openai, azure   openai-python, types/chat/chat_completion.py, shared/error_object.py and
                create_embedding_response.py;
                Azure's content filter: Microsoft's page on content filtering
anthropic       anthropic-sdk-python, types/message.py and the API's page on errors
gemini          python-genai, types.py (GenerateContentResponse, LogprobsResult)
bedrock         botocore's service model of bedrock-runtime (ConverseResponse)
openrouter      OpenRouter's page on errors and debugging
"""

from __future__ import annotations

from typing import Any

OPENAI: dict[str, Any] = {
    "id": "chatcmpl-B9",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "gpt-4o-mini-2024-07-18",
    "system_fingerprint": "fp_44",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "72", "refusal": None, "annotations": []},
            "logprobs": {
                "content": [
                    {
                        "token": "72",
                        "logprob": -0.6931471805599453,
                        "bytes": [55, 50],
                        "top_logprobs": [
                            {"token": "72", "logprob": -0.6931471805599453, "bytes": [55, 50]},
                            {"token": "80", "logprob": -1.3862943611198906, "bytes": [56, 48]},
                            {"token": "The", "logprob": -2.0, "bytes": None},
                        ],
                    }
                ],
                "refusal": None,
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 812,
        "completion_tokens": 1,
        "total_tokens": 813,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
    "service_tier": "default",
}

ANTHROPIC: dict[str, Any] = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-4-5-20251001",
    "content": [{"type": "text", "text": "72"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 700,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 12,
        "output_tokens": 5,
        "service_tier": "standard",
    },
}

GEMINI: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "hm", "thought": True}, {"text": "ye"}, {"text": "s"}],
            },
            "finishReason": "STOP",
            "index": 0,
            "logprobsResult": {
                "chosenCandidates": [{"token": "yes", "tokenId": 1, "logProbability": -0.2231}],
                "topCandidates": [
                    {
                        "candidates": [
                            {"token": "yes", "tokenId": 1, "logProbability": -0.2231435513142097},
                            {"token": "No", "tokenId": 2, "logProbability": -1.6094379124341003},
                        ]
                    }
                ],
            },
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 812,
        "candidatesTokenCount": 1,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 843,
    },
    "modelVersion": "gemini-2.5-flash-lite",
    "responseId": "r-7",
}

BEDROCK: dict[str, Any] = {
    "output": {"message": {"role": "assistant", "content": [{"text": "72"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 812, "outputTokens": 2, "totalTokens": 814},
    "metrics": {"latencyMs": 210},
}

EMBEDDINGS: dict[str, Any] = {
    "object": "list",
    "data": [
        {"object": "embedding", "index": 1, "embedding": [2.0, 0.0]},
        {"object": "embedding", "index": 0, "embedding": [3.0, 4.0]},
    ],
    "model": "text-embedding-3-small",
    "usage": {"prompt_tokens": 8, "total_tokens": 8},
}

AZURE_FILTERED: dict[str, Any] = {
    "error": {
        "message": "The response was filtered due to the prompt triggering the policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
        },
    }
}

OPENAI_ERROR: dict[str, Any] = {
    "error": {
        "message": "Incorrect API key provided: sk-abcd*********************wxyz.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
}

ANTHROPIC_OVERLOADED: dict[str, Any] = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "Overloaded"},
    "request_id": "req_011",
}

ANTHROPIC_SPENT: dict[str, Any] = {
    "type": "error",
    "error": {
        "type": "rate_limit_error",
        "message": "Spend limit reached",
        "details": {"error_code": "enforced_spend_limit_reached"},
    },
}

GEMINI_EXHAUSTED: dict[str, Any] = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"},
        ],
    }
}

OPENROUTER_IN_200: dict[str, Any] = {
    "error": {"code": 502, "message": "Provider returned error", "metadata": {}}
}

OPENROUTER_FLAGGED: dict[str, Any] = {
    "error": {
        "code": 403,
        "message": "Your input was flagged",
        "metadata": {"reasons": ["harassment"], "flagged_input": "...", "provider_name": "x"},
    }
}
