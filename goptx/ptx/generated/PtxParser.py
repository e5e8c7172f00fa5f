# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO


from goptx.ptx.rule import Rule

def serializedATN():
    return [
        4,1,61,623,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        1,0,5,0,56,8,0,10,0,12,0,59,9,0,1,0,1,0,1,1,1,1,1,1,1,1,1,1,1,1,
        5,1,69,8,1,10,1,12,1,72,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
        3,1,83,8,1,1,1,1,1,1,1,1,1,5,1,89,8,1,10,1,12,1,92,9,1,1,1,1,1,1,
        1,1,1,1,1,1,1,5,1,100,8,1,10,1,12,1,103,9,1,1,1,1,1,1,1,1,1,1,1,
        1,1,1,1,1,1,5,1,113,8,1,10,1,12,1,116,9,1,1,1,3,1,119,8,1,1,2,1,
        2,1,3,1,3,1,3,3,3,126,8,3,1,4,1,4,1,4,1,4,1,4,1,4,5,4,134,8,4,10,
        4,12,4,137,9,4,3,4,139,8,4,1,4,3,4,142,8,4,1,4,5,4,145,8,4,10,4,
        12,4,148,9,4,1,4,1,4,3,4,152,8,4,1,5,1,5,5,5,156,8,5,10,5,12,5,159,
        9,5,1,5,1,5,1,5,1,5,5,5,165,8,5,10,5,12,5,168,9,5,1,5,1,5,3,5,172,
        8,5,1,5,1,5,1,5,1,5,1,5,5,5,179,8,5,10,5,12,5,182,9,5,3,5,184,8,
        5,1,5,3,5,187,8,5,1,5,5,5,190,8,5,10,5,12,5,193,9,5,1,5,1,5,3,5,
        197,8,5,1,6,1,6,3,6,201,8,6,1,7,1,7,1,7,1,7,1,7,5,7,208,8,7,10,7,
        12,7,211,9,7,1,7,3,7,214,8,7,1,8,1,8,1,8,1,8,5,8,220,8,8,10,8,12,
        8,223,9,8,3,8,225,8,8,1,9,1,9,3,9,229,8,9,1,9,1,9,5,9,233,8,9,10,
        9,12,9,236,9,9,1,9,1,9,1,9,5,9,241,8,9,10,9,12,9,244,9,9,1,9,1,9,
        1,10,3,10,249,8,10,1,10,1,10,5,10,253,8,10,10,10,12,10,256,9,10,
        1,10,3,10,259,8,10,1,11,1,11,1,11,1,11,3,11,265,8,11,1,11,5,11,268,
        8,11,10,11,12,11,271,9,11,1,11,1,11,3,11,275,8,11,1,12,1,12,1,12,
        3,12,280,8,12,1,13,1,13,1,13,1,14,1,14,1,14,1,14,1,14,5,14,290,8,
        14,10,14,12,14,293,9,14,1,14,1,14,1,15,1,15,1,15,1,15,1,15,5,15,
        302,8,15,10,15,12,15,305,9,15,1,15,3,15,308,8,15,1,16,1,16,3,16,
        312,8,16,1,16,1,16,1,17,1,17,1,17,1,17,5,17,320,8,17,10,17,12,17,
        323,9,17,3,17,325,8,17,1,17,1,17,1,17,1,17,3,17,331,8,17,3,17,333,
        8,17,1,18,1,18,5,18,337,8,18,10,18,12,18,340,9,18,1,18,1,18,1,19,
        1,19,1,19,5,19,347,8,19,10,19,12,19,350,9,19,1,19,1,19,1,19,5,19,
        355,8,19,10,19,12,19,358,9,19,3,19,360,8,19,1,19,3,19,363,8,19,1,
        19,1,19,3,19,367,8,19,1,19,1,19,1,19,5,19,372,8,19,10,19,12,19,375,
        9,19,1,19,1,19,1,19,5,19,380,8,19,10,19,12,19,383,9,19,3,19,385,
        8,19,1,19,1,19,1,19,5,19,390,8,19,10,19,12,19,393,9,19,1,19,1,19,
        1,19,1,19,1,19,1,19,1,19,1,19,5,19,403,8,19,10,19,12,19,406,9,19,
        1,19,1,19,1,19,1,19,5,19,412,8,19,10,19,12,19,415,9,19,1,19,1,19,
        1,19,1,19,1,19,5,19,422,8,19,10,19,12,19,425,9,19,1,19,1,19,1,19,
        1,19,1,19,1,19,5,19,433,8,19,10,19,12,19,436,9,19,1,19,1,19,1,19,
        1,19,1,19,1,19,1,19,5,19,445,8,19,10,19,12,19,448,9,19,3,19,450,
        8,19,1,19,3,19,453,8,19,1,19,1,19,1,19,1,19,1,19,5,19,460,8,19,10,
        19,12,19,463,9,19,3,19,465,8,19,1,19,3,19,468,8,19,1,19,5,19,471,
        8,19,10,19,12,19,474,9,19,1,19,3,19,477,8,19,1,20,1,20,4,20,481,
        8,20,11,20,12,20,482,1,20,1,20,1,20,5,20,488,8,20,10,20,12,20,491,
        9,20,1,20,1,20,1,21,1,21,1,21,1,21,3,21,499,8,21,1,22,1,22,1,22,
        1,22,3,22,505,8,22,1,22,1,22,1,22,3,22,510,8,22,1,23,1,23,1,23,1,
        23,5,23,516,8,23,10,23,12,23,519,9,23,3,23,521,8,23,1,23,1,23,1,
        23,3,23,526,8,23,1,23,1,23,1,23,1,23,5,23,532,8,23,10,23,12,23,535,
        9,23,1,23,1,23,1,23,1,23,1,23,1,23,1,23,1,23,1,23,5,23,546,8,23,
        10,23,12,23,549,9,23,3,23,551,8,23,1,23,1,23,5,23,555,8,23,10,23,
        12,23,558,9,23,3,23,560,8,23,1,23,1,23,1,23,1,23,1,23,1,23,5,23,
        568,8,23,10,23,12,23,571,9,23,3,23,573,8,23,1,23,1,23,1,23,1,23,
        5,23,579,8,23,10,23,12,23,582,9,23,3,23,584,8,23,1,24,1,24,5,24,
        588,8,24,10,24,12,24,591,9,24,1,25,1,25,1,25,1,26,5,26,597,8,26,
        10,26,12,26,600,9,26,1,26,1,26,3,26,604,8,26,1,26,1,26,1,26,1,26,
        3,26,610,8,26,1,26,1,26,1,26,1,26,1,26,1,26,1,26,3,26,619,8,26,3,
        26,621,8,26,1,26,0,0,27,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,
        30,32,34,36,38,40,42,44,46,48,50,52,0,11,2,0,51,51,53,54,1,0,51,
        52,4,0,3,3,5,5,12,14,51,55,2,0,19,19,50,50,2,0,50,50,52,52,2,0,51,
        51,54,54,3,0,11,11,49,50,52,52,3,0,13,14,28,28,34,34,1,0,53,54,4,
        0,12,14,20,21,33,33,35,48,1,0,53,55,708,0,57,1,0,0,0,2,118,1,0,0,
        0,4,120,1,0,0,0,6,125,1,0,0,0,8,127,1,0,0,0,10,153,1,0,0,0,12,200,
        1,0,0,0,14,213,1,0,0,0,16,215,1,0,0,0,18,228,1,0,0,0,20,248,1,0,
        0,0,22,260,1,0,0,0,24,279,1,0,0,0,26,281,1,0,0,0,28,284,1,0,0,0,
        30,296,1,0,0,0,32,309,1,0,0,0,34,332,1,0,0,0,36,334,1,0,0,0,38,476,
        1,0,0,0,40,478,1,0,0,0,42,494,1,0,0,0,44,500,1,0,0,0,46,583,1,0,
        0,0,48,585,1,0,0,0,50,592,1,0,0,0,52,598,1,0,0,0,54,56,3,2,1,0,55,
        54,1,0,0,0,56,59,1,0,0,0,57,55,1,0,0,0,57,58,1,0,0,0,58,60,1,0,0,
        0,59,57,1,0,0,0,60,61,5,0,0,1,61,1,1,0,0,0,62,63,5,1,0,0,63,119,
        7,0,0,0,64,65,5,2,0,0,65,70,5,51,0,0,66,67,5,3,0,0,67,69,5,51,0,
        0,68,66,1,0,0,0,69,72,1,0,0,0,70,68,1,0,0,0,70,71,1,0,0,0,71,119,
        1,0,0,0,72,70,1,0,0,0,73,74,5,4,0,0,74,119,5,54,0,0,75,76,5,5,0,
        0,76,77,5,54,0,0,77,82,5,55,0,0,78,79,5,3,0,0,79,80,5,54,0,0,80,
        81,5,3,0,0,81,83,5,54,0,0,82,78,1,0,0,0,82,83,1,0,0,0,83,119,1,0,
        0,0,84,85,5,6,0,0,85,86,7,1,0,0,86,90,5,7,0,0,87,89,3,4,2,0,88,87,
        1,0,0,0,89,92,1,0,0,0,90,88,1,0,0,0,90,91,1,0,0,0,91,93,1,0,0,0,
        92,90,1,0,0,0,93,119,5,8,0,0,94,119,5,56,0,0,95,96,5,9,0,0,96,101,
        5,55,0,0,97,98,5,3,0,0,98,100,5,55,0,0,99,97,1,0,0,0,100,103,1,0,
        0,0,101,99,1,0,0,0,101,102,1,0,0,0,102,104,1,0,0,0,103,101,1,0,0,
        0,104,119,5,10,0,0,105,106,5,11,0,0,106,107,5,51,0,0,107,108,5,3,
        0,0,108,109,5,51,0,0,109,119,5,10,0,0,110,119,3,40,20,0,111,113,
        5,49,0,0,112,111,1,0,0,0,113,116,1,0,0,0,114,112,1,0,0,0,114,115,
        1,0,0,0,115,117,1,0,0,0,116,114,1,0,0,0,117,119,3,6,3,0,118,62,1,
        0,0,0,118,64,1,0,0,0,118,73,1,0,0,0,118,75,1,0,0,0,118,84,1,0,0,
        0,118,94,1,0,0,0,118,95,1,0,0,0,118,105,1,0,0,0,118,110,1,0,0,0,
        118,114,1,0,0,0,119,3,1,0,0,0,120,121,7,2,0,0,121,5,1,0,0,0,122,
        126,3,18,9,0,123,126,3,8,4,0,124,126,3,10,5,0,125,122,1,0,0,0,125,
        123,1,0,0,0,125,124,1,0,0,0,126,7,1,0,0,0,127,128,5,15,0,0,128,141,
        5,51,0,0,129,138,5,16,0,0,130,135,3,20,10,0,131,132,5,3,0,0,132,
        134,3,20,10,0,133,131,1,0,0,0,134,137,1,0,0,0,135,133,1,0,0,0,135,
        136,1,0,0,0,136,139,1,0,0,0,137,135,1,0,0,0,138,130,1,0,0,0,138,
        139,1,0,0,0,139,140,1,0,0,0,140,142,5,17,0,0,141,129,1,0,0,0,141,
        142,1,0,0,0,142,146,1,0,0,0,143,145,3,14,7,0,144,143,1,0,0,0,145,
        148,1,0,0,0,146,144,1,0,0,0,146,147,1,0,0,0,147,151,1,0,0,0,148,
        146,1,0,0,0,149,152,3,36,18,0,150,152,5,10,0,0,151,149,1,0,0,0,151,
        150,1,0,0,0,152,9,1,0,0,0,153,157,5,18,0,0,154,156,3,12,6,0,155,
        154,1,0,0,0,156,159,1,0,0,0,157,155,1,0,0,0,157,158,1,0,0,0,158,
        171,1,0,0,0,159,157,1,0,0,0,160,161,5,16,0,0,161,166,3,20,10,0,162,
        163,5,3,0,0,163,165,3,20,10,0,164,162,1,0,0,0,165,168,1,0,0,0,166,
        164,1,0,0,0,166,167,1,0,0,0,167,169,1,0,0,0,168,166,1,0,0,0,169,
        170,5,17,0,0,170,172,1,0,0,0,171,160,1,0,0,0,171,172,1,0,0,0,172,
        173,1,0,0,0,173,186,5,51,0,0,174,183,5,16,0,0,175,180,3,20,10,0,
        176,177,5,3,0,0,177,179,3,20,10,0,178,176,1,0,0,0,179,182,1,0,0,
        0,180,178,1,0,0,0,180,181,1,0,0,0,181,184,1,0,0,0,182,180,1,0,0,
        0,183,175,1,0,0,0,183,184,1,0,0,0,184,185,1,0,0,0,185,187,5,17,0,
        0,186,174,1,0,0,0,186,187,1,0,0,0,187,191,1,0,0,0,188,190,3,16,8,
        0,189,188,1,0,0,0,190,193,1,0,0,0,191,189,1,0,0,0,191,192,1,0,0,
        0,192,196,1,0,0,0,193,191,1,0,0,0,194,197,3,36,18,0,195,197,5,10,
        0,0,196,194,1,0,0,0,196,195,1,0,0,0,196,197,1,0,0,0,197,11,1,0,0,
        0,198,201,5,52,0,0,199,201,3,28,14,0,200,198,1,0,0,0,200,199,1,0,
        0,0,201,13,1,0,0,0,202,214,3,16,8,0,203,204,5,9,0,0,204,209,5,55,
        0,0,205,206,5,3,0,0,206,208,5,55,0,0,207,205,1,0,0,0,208,211,1,0,
        0,0,209,207,1,0,0,0,209,210,1,0,0,0,210,212,1,0,0,0,211,209,1,0,
        0,0,212,214,5,10,0,0,213,202,1,0,0,0,213,203,1,0,0,0,214,15,1,0,
        0,0,215,224,5,52,0,0,216,221,5,54,0,0,217,218,5,3,0,0,218,220,5,
        54,0,0,219,217,1,0,0,0,220,223,1,0,0,0,221,219,1,0,0,0,221,222,1,
        0,0,0,222,225,1,0,0,0,223,221,1,0,0,0,224,216,1,0,0,0,224,225,1,
        0,0,0,225,17,1,0,0,0,226,229,3,28,14,0,227,229,3,26,13,0,228,226,
        1,0,0,0,228,227,1,0,0,0,228,229,1,0,0,0,229,230,1,0,0,0,230,234,
        5,50,0,0,231,233,3,24,12,0,232,231,1,0,0,0,233,236,1,0,0,0,234,232,
        1,0,0,0,234,235,1,0,0,0,235,237,1,0,0,0,236,234,1,0,0,0,237,242,
        3,22,11,0,238,239,5,3,0,0,239,241,3,22,11,0,240,238,1,0,0,0,241,
        244,1,0,0,0,242,240,1,0,0,0,242,243,1,0,0,0,243,245,1,0,0,0,244,
        242,1,0,0,0,245,246,5,10,0,0,246,19,1,0,0,0,247,249,3,26,13,0,248,
        247,1,0,0,0,248,249,1,0,0,0,249,250,1,0,0,0,250,254,7,3,0,0,251,
        253,3,24,12,0,252,251,1,0,0,0,253,256,1,0,0,0,254,252,1,0,0,0,254,
        255,1,0,0,0,255,258,1,0,0,0,256,254,1,0,0,0,257,259,3,22,11,0,258,
        257,1,0,0,0,258,259,1,0,0,0,259,21,1,0,0,0,260,264,5,51,0,0,261,
        262,5,20,0,0,262,263,5,54,0,0,263,265,5,21,0,0,264,261,1,0,0,0,264,
        265,1,0,0,0,265,269,1,0,0,0,266,268,3,32,16,0,267,266,1,0,0,0,268,
        271,1,0,0,0,269,267,1,0,0,0,269,270,1,0,0,0,270,274,1,0,0,0,271,
        269,1,0,0,0,272,273,5,22,0,0,273,275,3,34,17,0,274,272,1,0,0,0,274,
        275,1,0,0,0,275,23,1,0,0,0,276,280,7,4,0,0,277,280,3,26,13,0,278,
        280,3,28,14,0,279,276,1,0,0,0,279,277,1,0,0,0,279,278,1,0,0,0,280,
        25,1,0,0,0,281,282,5,23,0,0,282,283,5,54,0,0,283,27,1,0,0,0,284,
        285,5,24,0,0,285,286,5,16,0,0,286,291,3,30,15,0,287,288,5,3,0,0,
        288,290,3,30,15,0,289,287,1,0,0,0,290,293,1,0,0,0,291,289,1,0,0,
        0,291,292,1,0,0,0,292,294,1,0,0,0,293,291,1,0,0,0,294,295,5,17,0,
        0,295,29,1,0,0,0,296,307,5,52,0,0,297,298,5,16,0,0,298,303,5,54,
        0,0,299,300,5,3,0,0,300,302,5,54,0,0,301,299,1,0,0,0,302,305,1,0,
        0,0,303,301,1,0,0,0,303,304,1,0,0,0,304,306,1,0,0,0,305,303,1,0,
        0,0,306,308,5,17,0,0,307,297,1,0,0,0,307,308,1,0,0,0,308,31,1,0,
        0,0,309,311,5,25,0,0,310,312,7,5,0,0,311,310,1,0,0,0,311,312,1,0,
        0,0,312,313,1,0,0,0,313,314,5,26,0,0,314,33,1,0,0,0,315,324,5,7,
        0,0,316,321,3,34,17,0,317,318,5,3,0,0,318,320,3,34,17,0,319,317,
        1,0,0,0,320,323,1,0,0,0,321,319,1,0,0,0,321,322,1,0,0,0,322,325,
        1,0,0,0,323,321,1,0,0,0,324,316,1,0,0,0,324,325,1,0,0,0,325,326,
        1,0,0,0,326,333,5,8,0,0,327,330,3,48,24,0,328,329,5,22,0,0,329,331,
        3,48,24,0,330,328,1,0,0,0,330,331,1,0,0,0,331,333,1,0,0,0,332,315,
        1,0,0,0,332,327,1,0,0,0,333,35,1,0,0,0,334,338,5,7,0,0,335,337,3,
        38,19,0,336,335,1,0,0,0,337,340,1,0,0,0,338,336,1,0,0,0,338,339,
        1,0,0,0,339,341,1,0,0,0,340,338,1,0,0,0,341,342,5,8,0,0,342,37,1,
        0,0,0,343,362,5,51,0,0,344,363,5,12,0,0,345,347,7,6,0,0,346,345,
        1,0,0,0,347,350,1,0,0,0,348,346,1,0,0,0,348,349,1,0,0,0,349,359,
        1,0,0,0,350,348,1,0,0,0,351,356,3,46,23,0,352,353,5,3,0,0,353,355,
        3,46,23,0,354,352,1,0,0,0,355,358,1,0,0,0,356,354,1,0,0,0,356,357,
        1,0,0,0,357,360,1,0,0,0,358,356,1,0,0,0,359,351,1,0,0,0,359,360,
        1,0,0,0,360,361,1,0,0,0,361,363,5,10,0,0,362,344,1,0,0,0,362,348,
        1,0,0,0,363,477,1,0,0,0,364,366,5,27,0,0,365,367,5,28,0,0,366,365,
        1,0,0,0,366,367,1,0,0,0,367,368,1,0,0,0,368,369,5,51,0,0,369,373,
        5,51,0,0,370,372,7,6,0,0,371,370,1,0,0,0,372,375,1,0,0,0,373,371,
        1,0,0,0,373,374,1,0,0,0,374,384,1,0,0,0,375,373,1,0,0,0,376,381,
        3,46,23,0,377,378,5,3,0,0,378,380,3,46,23,0,379,377,1,0,0,0,380,
        383,1,0,0,0,381,379,1,0,0,0,381,382,1,0,0,0,382,385,1,0,0,0,383,
        381,1,0,0,0,384,376,1,0,0,0,384,385,1,0,0,0,385,386,1,0,0,0,386,
        477,5,10,0,0,387,477,3,40,20,0,388,390,5,49,0,0,389,388,1,0,0,0,
        390,393,1,0,0,0,391,389,1,0,0,0,391,392,1,0,0,0,392,394,1,0,0,0,
        393,391,1,0,0,0,394,477,3,18,9,0,395,477,3,36,18,0,396,397,5,29,
        0,0,397,398,5,54,0,0,398,399,5,54,0,0,399,404,5,54,0,0,400,401,5,
        3,0,0,401,403,3,44,22,0,402,400,1,0,0,0,403,406,1,0,0,0,404,402,
        1,0,0,0,404,405,1,0,0,0,405,477,1,0,0,0,406,404,1,0,0,0,407,408,
        5,9,0,0,408,413,5,55,0,0,409,410,5,3,0,0,410,412,5,55,0,0,411,409,
        1,0,0,0,412,415,1,0,0,0,413,411,1,0,0,0,413,414,1,0,0,0,414,416,
        1,0,0,0,415,413,1,0,0,0,416,477,5,10,0,0,417,418,5,30,0,0,418,423,
        3,42,21,0,419,420,5,3,0,0,420,422,3,42,21,0,421,419,1,0,0,0,422,
        425,1,0,0,0,423,421,1,0,0,0,423,424,1,0,0,0,424,426,1,0,0,0,425,
        423,1,0,0,0,426,427,5,10,0,0,427,477,1,0,0,0,428,429,5,31,0,0,429,
        434,3,42,21,0,430,431,5,3,0,0,431,433,3,42,21,0,432,430,1,0,0,0,
        433,436,1,0,0,0,434,432,1,0,0,0,434,435,1,0,0,0,435,437,1,0,0,0,
        436,434,1,0,0,0,437,438,5,10,0,0,438,477,1,0,0,0,439,452,5,32,0,
        0,440,449,5,16,0,0,441,446,3,20,10,0,442,443,5,3,0,0,443,445,3,20,
        10,0,444,442,1,0,0,0,445,448,1,0,0,0,446,444,1,0,0,0,446,447,1,0,
        0,0,447,450,1,0,0,0,448,446,1,0,0,0,449,441,1,0,0,0,449,450,1,0,
        0,0,450,451,1,0,0,0,451,453,5,17,0,0,452,440,1,0,0,0,452,453,1,0,
        0,0,453,454,1,0,0,0,454,467,5,51,0,0,455,464,5,16,0,0,456,461,3,
        20,10,0,457,458,5,3,0,0,458,460,3,20,10,0,459,457,1,0,0,0,460,463,
        1,0,0,0,461,459,1,0,0,0,461,462,1,0,0,0,462,465,1,0,0,0,463,461,
        1,0,0,0,464,456,1,0,0,0,464,465,1,0,0,0,465,466,1,0,0,0,466,468,
        5,17,0,0,467,455,1,0,0,0,467,468,1,0,0,0,468,472,1,0,0,0,469,471,
        3,14,7,0,470,469,1,0,0,0,471,474,1,0,0,0,472,470,1,0,0,0,472,473,
        1,0,0,0,473,475,1,0,0,0,474,472,1,0,0,0,475,477,5,10,0,0,476,343,
        1,0,0,0,476,364,1,0,0,0,476,387,1,0,0,0,476,391,1,0,0,0,476,395,
        1,0,0,0,476,396,1,0,0,0,476,407,1,0,0,0,476,417,1,0,0,0,476,428,
        1,0,0,0,476,439,1,0,0,0,477,39,1,0,0,0,478,480,5,19,0,0,479,481,
        5,52,0,0,480,479,1,0,0,0,481,482,1,0,0,0,482,480,1,0,0,0,482,483,
        1,0,0,0,483,484,1,0,0,0,484,489,3,42,21,0,485,486,5,3,0,0,486,488,
        3,42,21,0,487,485,1,0,0,0,488,491,1,0,0,0,489,487,1,0,0,0,489,490,
        1,0,0,0,490,492,1,0,0,0,491,489,1,0,0,0,492,493,5,10,0,0,493,41,
        1,0,0,0,494,498,5,51,0,0,495,496,5,20,0,0,496,497,5,54,0,0,497,499,
        5,21,0,0,498,495,1,0,0,0,498,499,1,0,0,0,499,43,1,0,0,0,500,509,
        5,51,0,0,501,504,5,51,0,0,502,503,5,13,0,0,503,505,5,54,0,0,504,
        502,1,0,0,0,504,505,1,0,0,0,505,510,1,0,0,0,506,507,5,54,0,0,507,
        508,5,54,0,0,508,510,5,54,0,0,509,501,1,0,0,0,509,506,1,0,0,0,510,
        45,1,0,0,0,511,520,5,7,0,0,512,517,3,46,23,0,513,514,5,3,0,0,514,
        516,3,46,23,0,515,513,1,0,0,0,516,519,1,0,0,0,517,515,1,0,0,0,517,
        518,1,0,0,0,518,521,1,0,0,0,519,517,1,0,0,0,520,512,1,0,0,0,520,
        521,1,0,0,0,521,522,1,0,0,0,522,525,5,8,0,0,523,524,5,33,0,0,524,
        526,5,51,0,0,525,523,1,0,0,0,525,526,1,0,0,0,526,584,1,0,0,0,527,
        528,5,25,0,0,528,533,3,46,23,0,529,530,5,3,0,0,530,532,3,46,23,0,
        531,529,1,0,0,0,532,535,1,0,0,0,533,531,1,0,0,0,533,534,1,0,0,0,
        534,536,1,0,0,0,535,533,1,0,0,0,536,537,5,26,0,0,537,584,1,0,0,0,
        538,559,5,16,0,0,539,540,5,52,0,0,540,541,5,17,0,0,541,560,3,46,
        23,0,542,547,3,46,23,0,543,544,5,3,0,0,544,546,3,46,23,0,545,543,
        1,0,0,0,546,549,1,0,0,0,547,545,1,0,0,0,547,548,1,0,0,0,548,551,
        1,0,0,0,549,547,1,0,0,0,550,542,1,0,0,0,550,551,1,0,0,0,551,552,
        1,0,0,0,552,556,5,17,0,0,553,555,3,50,25,0,554,553,1,0,0,0,555,558,
        1,0,0,0,556,554,1,0,0,0,556,557,1,0,0,0,557,560,1,0,0,0,558,556,
        1,0,0,0,559,539,1,0,0,0,559,550,1,0,0,0,560,584,1,0,0,0,561,572,
        5,51,0,0,562,563,5,25,0,0,563,564,3,46,23,0,564,565,5,26,0,0,565,
        573,1,0,0,0,566,568,3,50,25,0,567,566,1,0,0,0,568,571,1,0,0,0,569,
        567,1,0,0,0,569,570,1,0,0,0,570,573,1,0,0,0,571,569,1,0,0,0,572,
        562,1,0,0,0,572,569,1,0,0,0,573,584,1,0,0,0,574,575,7,7,0,0,575,
        584,3,46,23,0,576,580,7,8,0,0,577,579,3,50,25,0,578,577,1,0,0,0,
        579,582,1,0,0,0,580,578,1,0,0,0,580,581,1,0,0,0,581,584,1,0,0,0,
        582,580,1,0,0,0,583,511,1,0,0,0,583,527,1,0,0,0,583,538,1,0,0,0,
        583,561,1,0,0,0,583,574,1,0,0,0,583,576,1,0,0,0,584,47,1,0,0,0,585,
        589,3,52,26,0,586,588,3,50,25,0,587,586,1,0,0,0,588,591,1,0,0,0,
        589,587,1,0,0,0,589,590,1,0,0,0,590,49,1,0,0,0,591,589,1,0,0,0,592,
        593,7,9,0,0,593,594,3,52,26,0,594,51,1,0,0,0,595,597,7,7,0,0,596,
        595,1,0,0,0,597,600,1,0,0,0,598,596,1,0,0,0,598,599,1,0,0,0,599,
        620,1,0,0,0,600,598,1,0,0,0,601,604,7,10,0,0,602,604,5,51,0,0,603,
        601,1,0,0,0,603,602,1,0,0,0,604,609,1,0,0,0,605,606,5,16,0,0,606,
        607,3,48,24,0,607,608,5,17,0,0,608,610,1,0,0,0,609,605,1,0,0,0,609,
        610,1,0,0,0,610,621,1,0,0,0,611,618,5,16,0,0,612,613,5,52,0,0,613,
        614,5,17,0,0,614,619,3,52,26,0,615,616,3,48,24,0,616,617,5,17,0,
        0,617,619,1,0,0,0,618,612,1,0,0,0,618,615,1,0,0,0,619,621,1,0,0,
        0,620,603,1,0,0,0,620,611,1,0,0,0,621,53,1,0,0,0,89,57,70,82,90,
        101,114,118,125,135,138,141,146,151,157,166,171,180,183,186,191,
        196,200,209,213,221,224,228,234,242,248,254,258,264,269,274,279,
        291,303,307,311,321,324,330,332,338,348,356,359,362,366,373,381,
        384,391,404,413,423,434,446,449,452,461,464,467,472,476,482,489,
        498,504,509,517,520,525,533,547,550,556,559,569,572,580,583,589,
        598,603,609,618,620
    ]

class PtxParser ( Parser ):

    grammarFileName = "Ptx.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'.version'", "'.target'", "','", "'.address_size'", 
                     "'.file'", "'.section'", "'{'", "'}'", "'.pragma'", 
                     "';'", "'.alias'", "':'", "'+'", "'-'", "'.entry'", 
                     "'('", "')'", "'.func'", "'.reg'", "'<'", "'>'", "'='", 
                     "'.align'", "'.attribute'", "'['", "']'", "'@'", "'!'", 
                     "'.loc'", "'.branchtargets'", "'.calltargets'", "'.callprototype'", 
                     "'|'", "'~'", "'*'", "'/'", "'%'", "'<<'", "'>>'", 
                     "'<='", "'>='", "'=='", "'!='", "'&'", "'^'", "'&&'", 
                     "'||'", "'?'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "LINKAGE", "SPACE", "NAME", "DOTTED", 
                      "FLOAT", "INTEGER", "STRING", "DWARF", "SPACES", "LINE_COMMENT", 
                      "BLOCK_COMMENT", "LINE_MARK", "OTHER" ]

    RULE_module = 0
    RULE_item = 1
    RULE_sectionWord = 2
    RULE_linked = 3
    RULE_entry = 4
    RULE_function = 5
    RULE_marking = 6
    RULE_directive = 7
    RULE_setting = 8
    RULE_variables = 9
    RULE_parameter = 10
    RULE_declarator = 11
    RULE_qualifier = 12
    RULE_alignment = 13
    RULE_attributes = 14
    RULE_attribute = 15
    RULE_dimension = 16
    RULE_initializer = 17
    RULE_block = 18
    RULE_statement = 19
    RULE_registers = 20
    RULE_numbered = 21
    RULE_locationWord = 22
    RULE_operand = 23
    RULE_expression = 24
    RULE_expressionTail = 25
    RULE_expressionTerm = 26

    ruleNames =  [ "module", "item", "sectionWord", "linked", "entry", "function", 
                   "marking", "directive", "setting", "variables", "parameter", 
                   "declarator", "qualifier", "alignment", "attributes", 
                   "attribute", "dimension", "initializer", "block", "statement", 
                   "registers", "numbered", "locationWord", "operand", "expression", 
                   "expressionTail", "expressionTerm" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    T__22=23
    T__23=24
    T__24=25
    T__25=26
    T__26=27
    T__27=28
    T__28=29
    T__29=30
    T__30=31
    T__31=32
    T__32=33
    T__33=34
    T__34=35
    T__35=36
    T__36=37
    T__37=38
    T__38=39
    T__39=40
    T__40=41
    T__41=42
    T__42=43
    T__43=44
    T__44=45
    T__45=46
    T__46=47
    T__47=48
    LINKAGE=49
    SPACE=50
    NAME=51
    DOTTED=52
    FLOAT=53
    INTEGER=54
    STRING=55
    DWARF=56
    SPACES=57
    LINE_COMMENT=58
    BLOCK_COMMENT=59
    LINE_MARK=60
    OTHER=61

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class ModuleContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(PtxParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ItemContext)
            else:
                return self.getTypedRuleContext(PtxParser.ItemContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_module




    def module(self):

        localctx = PtxParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 57
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 73746443924179574) != 0):
                self.state = 54
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 59
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 60
            self.match(PtxParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_item

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VersionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.number = None # Token
            self.copyFrom(ctx)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class TargetContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class AddressSizeContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.bits = None # Token
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)


    class FileContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.index = None # Token
            self.path = None # Token
            self.stamp = None # Token
            self.size = None # Token
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)


    class SectionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.name = None # Token
            self._sectionWord = None # SectionWordContext
            self.words = list() # of SectionWordContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def sectionWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SectionWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.SectionWordContext,i)



    class DwarfContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.line = None # Token
            self.copyFrom(ctx)

        def DWARF(self):
            return self.getToken(PtxParser.DWARF, 0)


    class ModulePragmaContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class AliasContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class ModuleRegistersContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class SymbolContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # LinkedContext
            self.copyFrom(ctx)

        def linked(self):
            return self.getTypedRuleContext(PtxParser.LinkedContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)



    def item(self):

        localctx = PtxParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 118
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                localctx = PtxParser.VersionContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 62
                self.match(PtxParser.T__0)
                self.state = 63
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 29273397577908224) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [2]:
                localctx = PtxParser.TargetContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 64
                self.match(PtxParser.T__1)
                self.state = 65
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 70
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 66
                    self.match(PtxParser.T__2)
                    self.state = 67
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 72
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [4]:
                localctx = PtxParser.AddressSizeContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 73
                self.match(PtxParser.T__3)
                self.state = 74
                localctx.bits = self.match(PtxParser.INTEGER)
                pass
            elif token in [5]:
                localctx = PtxParser.FileContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 75
                self.match(PtxParser.T__4)
                self.state = 76
                localctx.index = self.match(PtxParser.INTEGER)
                self.state = 77
                localctx.path = self.match(PtxParser.STRING)
                self.state = 82
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 78
                    self.match(PtxParser.T__2)
                    self.state = 79
                    localctx.stamp = self.match(PtxParser.INTEGER)
                    self.state = 80
                    self.match(PtxParser.T__2)
                    self.state = 81
                    localctx.size = self.match(PtxParser.INTEGER)


                pass
            elif token in [6]:
                localctx = PtxParser.SectionContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 84
                self.match(PtxParser.T__5)
                self.state = 85
                localctx.name = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==51 or _la==52):
                    localctx.name = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 86
                self.match(PtxParser.T__6)
                self.state = 90
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 69805794224271400) != 0):
                    self.state = 87
                    localctx._sectionWord = self.sectionWord()
                    localctx.words.append(localctx._sectionWord)
                    self.state = 92
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 93
                self.match(PtxParser.T__7)
                pass
            elif token in [56]:
                localctx = PtxParser.DwarfContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 94
                localctx.line = self.match(PtxParser.DWARF)
                pass
            elif token in [9]:
                localctx = PtxParser.ModulePragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 95
                self.match(PtxParser.T__8)
                self.state = 96
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 101
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 97
                    self.match(PtxParser.T__2)
                    self.state = 98
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 103
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 104
                self.match(PtxParser.T__9)
                pass
            elif token in [11]:
                localctx = PtxParser.AliasContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 105
                self.match(PtxParser.T__10)
                self.state = 106
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 107
                self.match(PtxParser.T__2)
                self.state = 108
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 109
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.ModuleRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 110
                localctx.of = self.registers()
                pass
            elif token in [15, 18, 23, 24, 49, 50]:
                localctx = PtxParser.SymbolContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 114
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==49:
                    self.state = 111
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 116
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 117
                localctx.of = self.linked()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SectionWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_sectionWord




    def sectionWord(self):

        localctx = PtxParser.SectionWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_sectionWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 120
            localctx.word = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 69805794224271400) != 0)):
                localctx.word = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LinkedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of_variables = None # VariablesContext
            self.of_entry = None # EntryContext
            self.of_function = None # FunctionContext

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)


        def entry(self):
            return self.getTypedRuleContext(PtxParser.EntryContext,0)


        def function(self):
            return self.getTypedRuleContext(PtxParser.FunctionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_linked




    def linked(self):

        localctx = PtxParser.LinkedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_linked)
        try:
            self.state = 125
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [23, 24, 50]:
                self.enterOuterAlt(localctx, 1)
                self.state = 122
                localctx.of_variables = self.variables()
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 2)
                self.state = 123
                localctx.of_entry = self.entry()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 3)
                self.state = 124
                localctx.of_function = self.function()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EntryContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._parameter = None # ParameterContext
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_entry




    def entry(self):

        localctx = PtxParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_entry)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 127
            self.match(PtxParser.T__14)
            self.state = 128
            localctx.name = self.match(PtxParser.NAME)
            self.state = 141
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 129
                self.match(PtxParser.T__15)
                self.state = 138
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125899915755520) != 0):
                    self.state = 130
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 135
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 131
                        self.match(PtxParser.T__2)
                        self.state = 132
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 137
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 140
                self.match(PtxParser.T__16)


            self.state = 146
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==52:
                self.state = 143
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 148
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 151
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 149
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 150
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._marking = None # MarkingContext
            self.before = list() # of MarkingContexts
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._setting = None # SettingContext
            self.directives = list() # of SettingContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def marking(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.MarkingContext)
            else:
                return self.getTypedRuleContext(PtxParser.MarkingContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def setting(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SettingContext)
            else:
                return self.getTypedRuleContext(PtxParser.SettingContext,i)


        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_function




    def function(self):

        localctx = PtxParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 153
            self.match(PtxParser.T__17)
            self.state = 157
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24 or _la==52:
                self.state = 154
                localctx._marking = self.marking()
                localctx.before.append(localctx._marking)
                self.state = 159
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 171
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 160
                self.match(PtxParser.T__15)
                self.state = 161
                localctx._parameter = self.parameter()
                localctx.results.append(localctx._parameter)
                self.state = 166
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 162
                    self.match(PtxParser.T__2)
                    self.state = 163
                    localctx._parameter = self.parameter()
                    localctx.results.append(localctx._parameter)
                    self.state = 168
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 169
                self.match(PtxParser.T__16)


            self.state = 173
            localctx.name = self.match(PtxParser.NAME)
            self.state = 186
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 174
                self.match(PtxParser.T__15)
                self.state = 183
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125899915755520) != 0):
                    self.state = 175
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 180
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 176
                        self.match(PtxParser.T__2)
                        self.state = 177
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 182
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 185
                self.match(PtxParser.T__16)


            self.state = 191
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==52:
                self.state = 188
                localctx._setting = self.setting()
                localctx.directives.append(localctx._setting)
                self.state = 193
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 196
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 194
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 195
                self.match(PtxParser.T__9)
                pass
            elif token in [-1, 1, 2, 4, 5, 6, 9, 11, 15, 18, 19, 23, 24, 49, 50, 56]:
                pass
            else:
                pass
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MarkingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_marking




    def marking(self):

        localctx = PtxParser.MarkingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_marking)
        try:
            self.state = 200
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 198
                localctx.word = self.match(PtxParser.DOTTED)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 199
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DirectiveContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # SettingContext
            self._STRING = None # Token
            self.texts = list() # of Tokens

        def setting(self):
            return self.getTypedRuleContext(PtxParser.SettingContext,0)


        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_directive




    def directive(self):

        localctx = PtxParser.DirectiveContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_directive)
        self._la = 0 # Token type
        try:
            self.state = 213
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 202
                localctx.of = self.setting()
                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 203
                self.match(PtxParser.T__8)
                self.state = 204
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 209
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 205
                    self.match(PtxParser.T__2)
                    self.state = 206
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 211
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 212
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SettingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_setting




    def setting(self):

        localctx = PtxParser.SettingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_setting)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 215
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 224
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==54:
                self.state = 216
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 221
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 217
                    self.match(PtxParser.T__2)
                    self.state = 218
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 223
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariablesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # AttributesContext
            self.aligned = None # AlignmentContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self._declarator = None # DeclaratorContext
            self.declared = list() # of DeclaratorContexts

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def declarator(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DeclaratorContext)
            else:
                return self.getTypedRuleContext(PtxParser.DeclaratorContext,i)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_variables




    def variables(self):

        localctx = PtxParser.VariablesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_variables)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 228
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [24]:
                self.state = 226
                localctx.of = self.attributes()
                pass
            elif token in [23]:
                self.state = 227
                localctx.aligned = self.alignment()
                pass
            elif token in [50]:
                pass
            else:
                pass
            self.state = 230
            localctx.space = self.match(PtxParser.SPACE)
            self.state = 234
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 5629499559378944) != 0):
                self.state = 231
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 236
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 237
            localctx._declarator = self.declarator()
            localctx.declared.append(localctx._declarator)
            self.state = 242
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 238
                self.match(PtxParser.T__2)
                self.state = 239
                localctx._declarator = self.declarator()
                localctx.declared.append(localctx._declarator)
                self.state = 244
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 245
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.aligned = None # AlignmentContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self.of = None # DeclaratorContext

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def declarator(self):
            return self.getTypedRuleContext(PtxParser.DeclaratorContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_parameter




    def parameter(self):

        localctx = PtxParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 248
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==23:
                self.state = 247
                localctx.aligned = self.alignment()


            self.state = 250
            localctx.space = self._input.LT(1)
            _la = self._input.LA(1)
            if not(_la==19 or _la==50):
                localctx.space = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 254
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 5629499559378944) != 0):
                self.state = 251
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 256
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 258
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==51:
                self.state = 257
                localctx.of = self.declarator()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DeclaratorContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token
            self._dimension = None # DimensionContext
            self.dims = list() # of DimensionContexts
            self.init = None # InitializerContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def dimension(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DimensionContext)
            else:
                return self.getTypedRuleContext(PtxParser.DimensionContext,i)


        def initializer(self):
            return self.getTypedRuleContext(PtxParser.InitializerContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_declarator




    def declarator(self):

        localctx = PtxParser.DeclaratorContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_declarator)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 260
            localctx.name = self.match(PtxParser.NAME)
            self.state = 264
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 261
                self.match(PtxParser.T__19)
                self.state = 262
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 263
                self.match(PtxParser.T__20)


            self.state = 269
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==25:
                self.state = 266
                localctx._dimension = self.dimension()
                localctx.dims.append(localctx._dimension)
                self.state = 271
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 274
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==22:
                self.state = 272
                self.match(PtxParser.T__21)
                self.state = 273
                localctx.init = self.initializer()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class QualifierContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.aligned = None # AlignmentContext
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_qualifier




    def qualifier(self):

        localctx = PtxParser.QualifierContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_qualifier)
        self._la = 0 # Token type
        try:
            self.state = 279
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [50, 52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 276
                localctx.word = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==50 or _la==52):
                    localctx.word = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [23]:
                self.enterOuterAlt(localctx, 2)
                self.state = 277
                localctx.aligned = self.alignment()
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 3)
                self.state = 278
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AlignmentContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.bytes_ = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_alignment




    def alignment(self):

        localctx = PtxParser.AlignmentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_alignment)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 281
            self.match(PtxParser.T__22)
            self.state = 282
            localctx.bytes_ = self.match(PtxParser.INTEGER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.each = list() # of AttributeContexts

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.AttributeContext)
            else:
                return self.getTypedRuleContext(PtxParser.AttributeContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_attributes




    def attributes(self):

        localctx = PtxParser.AttributesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_attributes)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 284
            self.match(PtxParser.T__23)
            self.state = 285
            self.match(PtxParser.T__15)
            self.state = 286
            localctx._attribute = self.attribute()
            localctx.each.append(localctx._attribute)
            self.state = 291
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 287
                self.match(PtxParser.T__2)
                self.state = 288
                localctx._attribute = self.attribute()
                localctx.each.append(localctx._attribute)
                self.state = 293
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 294
            self.match(PtxParser.T__16)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_attribute




    def attribute(self):

        localctx = PtxParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 296
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 307
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 297
                self.match(PtxParser.T__15)
                self.state = 298
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 303
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 299
                    self.match(PtxParser.T__2)
                    self.state = 300
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 305
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 306
                self.match(PtxParser.T__16)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DimensionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.size = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_dimension




    def dimension(self):

        localctx = PtxParser.DimensionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_dimension)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 309
            self.match(PtxParser.T__24)
            self.state = 311
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==51 or _la==54:
                self.state = 310
                localctx.size = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==51 or _la==54):
                    localctx.size = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 313
            self.match(PtxParser.T__25)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class InitializerContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._initializer = None # InitializerContext
            self.parts = list() # of InitializerContexts
            self.of = None # ExpressionContext
            self.value_ = None # ExpressionContext

        def initializer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.InitializerContext)
            else:
                return self.getTypedRuleContext(PtxParser.InitializerContext,i)


        def expression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_initializer




    def initializer(self):

        localctx = PtxParser.InitializerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_initializer)
        self._la = 0 # Token type
        try:
            self.state = 332
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 315
                self.match(PtxParser.T__6)
                self.state = 324
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 65302212045267072) != 0):
                    self.state = 316
                    localctx._initializer = self.initializer()
                    localctx.parts.append(localctx._initializer)
                    self.state = 321
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 317
                        self.match(PtxParser.T__2)
                        self.state = 318
                        localctx._initializer = self.initializer()
                        localctx.parts.append(localctx._initializer)
                        self.state = 323
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 326
                self.match(PtxParser.T__7)
                pass
            elif token in [13, 14, 16, 28, 34, 51, 53, 54, 55]:
                self.enterOuterAlt(localctx, 2)
                self.state = 327
                localctx.of = self.expression()
                self.state = 330
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==22:
                    self.state = 328
                    self.match(PtxParser.T__21)
                    self.state = 329
                    localctx.value_ = self.expression()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BlockContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._statement = None # StatementContext
            self.statements = list() # of StatementContexts

        def statement(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.StatementContext)
            else:
                return self.getTypedRuleContext(PtxParser.StatementContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_block




    def block(self):

        localctx = PtxParser.BlockContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_block)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 334
            self.match(PtxParser.T__6)
            self.state = 338
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 3940657886921344) != 0):
                self.state = 335
                localctx._statement = self.statement()
                localctx.statements.append(localctx._statement)
                self.state = 340
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 341
            self.match(PtxParser.T__7)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StatementContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_statement

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class NamedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.name = None # Token
            self.colon = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset782 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class GuardedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.negated = None # Token
            self.guard = None # Token
            self.name = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset841 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class LocalRegistersContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class LocalContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # VariablesContext
            self.copyFrom(ctx)

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class ScopeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of_block = None # BlockContext
            self.copyFrom(ctx)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)



    class LocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self._locationWord = None # LocationWordContext
            self.words = list() # of LocationWordContexts
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def locationWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.LocationWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.LocationWordContext,i)



    class PragmaContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class BranchTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallPrototypeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)

        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)




    def statement(self):

        localctx = PtxParser.StatementContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_statement)
        self._la = 0 # Token type
        try:
            self.state = 476
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51]:
                localctx = PtxParser.NamedContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 343
                localctx.name = self.match(PtxParser.NAME)
                self.state = 362
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [12]:
                    self.state = 344
                    localctx.colon = self.match(PtxParser.T__11)
                    pass
                elif token in [7, 10, 11, 13, 14, 16, 25, 28, 34, 49, 50, 51, 52, 53, 54]:
                    self.state = 348
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0):
                        self.state = 345
                        localctx._tset782 = self._input.LT(1)
                        _la = self._input.LA(1)
                        if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0)):
                            localctx._tset782 = self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()
                        localctx.words.append(localctx._tset782)
                        self.state = 350
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 359
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                        self.state = 351
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 356
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 352
                            self.match(PtxParser.T__2)
                            self.state = 353
                            localctx._operand = self.operand()
                            localctx.operands.append(localctx._operand)
                            self.state = 358
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 361
                    self.match(PtxParser.T__9)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [27]:
                localctx = PtxParser.GuardedContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 364
                self.match(PtxParser.T__26)
                self.state = 366
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 365
                    localctx.negated = self.match(PtxParser.T__27)


                self.state = 368
                localctx.guard = self.match(PtxParser.NAME)
                self.state = 369
                localctx.name = self.match(PtxParser.NAME)
                self.state = 373
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0):
                    self.state = 370
                    localctx._tset841 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0)):
                        localctx._tset841 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.words.append(localctx._tset841)
                    self.state = 375
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 384
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                    self.state = 376
                    localctx._operand = self.operand()
                    localctx.operands.append(localctx._operand)
                    self.state = 381
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 377
                        self.match(PtxParser.T__2)
                        self.state = 378
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 383
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 386
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.LocalRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 387
                localctx.of = self.registers()
                pass
            elif token in [23, 24, 49, 50]:
                localctx = PtxParser.LocalContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 391
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==49:
                    self.state = 388
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 393
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 394
                localctx.of = self.variables()
                pass
            elif token in [7]:
                localctx = PtxParser.ScopeContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 395
                localctx.of_block = self.block()
                pass
            elif token in [29]:
                localctx = PtxParser.LocationContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 396
                self.match(PtxParser.T__28)
                self.state = 397
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 398
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 399
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 404
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 400
                    self.match(PtxParser.T__2)
                    self.state = 401
                    localctx._locationWord = self.locationWord()
                    localctx.words.append(localctx._locationWord)
                    self.state = 406
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [9]:
                localctx = PtxParser.PragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 407
                self.match(PtxParser.T__8)
                self.state = 408
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 413
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 409
                    self.match(PtxParser.T__2)
                    self.state = 410
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 415
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 416
                self.match(PtxParser.T__9)
                pass
            elif token in [30]:
                localctx = PtxParser.BranchTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 417
                self.match(PtxParser.T__29)
                self.state = 418
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 423
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 419
                    self.match(PtxParser.T__2)
                    self.state = 420
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 425
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 426
                self.match(PtxParser.T__9)
                pass
            elif token in [31]:
                localctx = PtxParser.CallTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 428
                self.match(PtxParser.T__30)
                self.state = 429
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 434
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 430
                    self.match(PtxParser.T__2)
                    self.state = 431
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 436
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 437
                self.match(PtxParser.T__9)
                pass
            elif token in [32]:
                localctx = PtxParser.CallPrototypeContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 439
                self.match(PtxParser.T__31)
                self.state = 452
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 440
                    self.match(PtxParser.T__15)
                    self.state = 449
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125899915755520) != 0):
                        self.state = 441
                        localctx._parameter = self.parameter()
                        localctx.results.append(localctx._parameter)
                        self.state = 446
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 442
                            self.match(PtxParser.T__2)
                            self.state = 443
                            localctx._parameter = self.parameter()
                            localctx.results.append(localctx._parameter)
                            self.state = 448
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 451
                    self.match(PtxParser.T__16)


                self.state = 454
                localctx.name = self.match(PtxParser.NAME)
                self.state = 467
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 455
                    self.match(PtxParser.T__15)
                    self.state = 464
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125899915755520) != 0):
                        self.state = 456
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 461
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 457
                            self.match(PtxParser.T__2)
                            self.state = 458
                            localctx._parameter = self.parameter()
                            localctx.params.append(localctx._parameter)
                            self.state = 463
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 466
                    self.match(PtxParser.T__16)


                self.state = 472
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==9 or _la==52:
                    self.state = 469
                    localctx._directive = self.directive()
                    localctx.directives.append(localctx._directive)
                    self.state = 474
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 475
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RegistersContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._DOTTED = None # Token
            self.types = list() # of Tokens
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)


        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)

        def getRuleIndex(self):
            return PtxParser.RULE_registers




    def registers(self):

        localctx = PtxParser.RegistersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_registers)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 478
            self.match(PtxParser.T__18)
            self.state = 480 
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while True:
                self.state = 479
                localctx._DOTTED = self.match(PtxParser.DOTTED)
                localctx.types.append(localctx._DOTTED)
                self.state = 482 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if not (_la==52):
                    break

            self.state = 484
            localctx._numbered = self.numbered()
            localctx.names.append(localctx._numbered)
            self.state = 489
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 485
                self.match(PtxParser.T__2)
                self.state = 486
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 491
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 492
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_numbered




    def numbered(self):

        localctx = PtxParser.NumberedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_numbered)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 494
            localctx.name = self.match(PtxParser.NAME)
            self.state = 498
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 495
                self.match(PtxParser.T__19)
                self.state = 496
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 497
                self.match(PtxParser.T__20)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LocationWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.name = None # Token
            self.offset = None # Token
            self._INTEGER = None # Token
            self.where = list() # of Tokens

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_locationWord




    def locationWord(self):

        localctx = PtxParser.LocationWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_locationWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 500
            localctx.word = self.match(PtxParser.NAME)
            self.state = 509
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51]:
                self.state = 501
                localctx.name = self.match(PtxParser.NAME)
                self.state = 504
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 502
                    self.match(PtxParser.T__12)
                    self.state = 503
                    localctx.offset = self.match(PtxParser.INTEGER)


                pass
            elif token in [54]:
                self.state = 506
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 507
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 508
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OperandContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_operand

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VectorContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.other = None # Token
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class AddressContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class TupleContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.cast = None # Token
            self.of = None # OperandContext
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SymbolicContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.first = None # Token
            self.index = None # OperandContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SignedContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.sign = None # Token
            self.of = None # OperandContext
            self.copyFrom(ctx)

        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)



    class LiteralContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.number = None # Token
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)




    def operand(self):

        localctx = PtxParser.OperandContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_operand)
        self._la = 0 # Token type
        try:
            self.state = 583
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                localctx = PtxParser.VectorContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 511
                self.match(PtxParser.T__6)
                self.state = 520
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                    self.state = 512
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 517
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 513
                        self.match(PtxParser.T__2)
                        self.state = 514
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 519
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 522
                self.match(PtxParser.T__7)
                self.state = 525
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==33:
                    self.state = 523
                    self.match(PtxParser.T__32)
                    self.state = 524
                    localctx.other = self.match(PtxParser.NAME)


                pass
            elif token in [25]:
                localctx = PtxParser.AddressContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 527
                self.match(PtxParser.T__24)
                self.state = 528
                localctx._operand = self.operand()
                localctx.parts.append(localctx._operand)
                self.state = 533
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 529
                    self.match(PtxParser.T__2)
                    self.state = 530
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 535
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 536
                self.match(PtxParser.T__25)
                pass
            elif token in [16]:
                localctx = PtxParser.TupleContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 538
                self.match(PtxParser.T__15)
                self.state = 559
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [52]:
                    self.state = 539
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 540
                    self.match(PtxParser.T__16)
                    self.state = 541
                    localctx.of = self.operand()
                    pass
                elif token in [7, 13, 14, 16, 17, 25, 28, 34, 51, 53, 54]:
                    self.state = 550
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                        self.state = 542
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 547
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 543
                            self.match(PtxParser.T__2)
                            self.state = 544
                            localctx._operand = self.operand()
                            localctx.parts.append(localctx._operand)
                            self.state = 549
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 552
                    self.match(PtxParser.T__16)
                    self.state = 556
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                        self.state = 553
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 558
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [51]:
                localctx = PtxParser.SymbolicContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 561
                localctx.first = self.match(PtxParser.NAME)
                self.state = 572
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [25]:
                    self.state = 562
                    self.match(PtxParser.T__24)
                    self.state = 563
                    localctx.index = self.operand()
                    self.state = 564
                    self.match(PtxParser.T__25)
                    pass
                elif token in [3, 8, 10, 12, 13, 14, 17, 20, 21, 26, 33, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48]:
                    self.state = 569
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                        self.state = 566
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 571
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [13, 14, 28, 34]:
                localctx = PtxParser.SignedContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 574
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 575
                localctx.of = self.operand()
                pass
            elif token in [53, 54]:
                localctx = PtxParser.LiteralContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 576
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==53 or _la==54):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 580
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                    self.state = 577
                    localctx._expressionTail = self.expressionTail()
                    localctx.tail.append(localctx._expressionTail)
                    self.state = 582
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.first = None # ExpressionTermContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_expression




    def expression(self):

        localctx = PtxParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_expression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 585
            localctx.first = self.expressionTerm()
            self.state = 589
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                self.state = 586
                localctx._expressionTail = self.expressionTail()
                localctx.tail.append(localctx._expressionTail)
                self.state = 591
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTailContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.of = None # ExpressionTermContext

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_expressionTail




    def expressionTail(self):

        localctx = PtxParser.ExpressionTailContext(self, self._ctx, self.state)
        self.enterRule(localctx, 50, self.RULE_expressionTail)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 592
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 593
            localctx.of = self.expressionTerm()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTermContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.s14 = None # Token
            self.signs = list() # of Tokens
            self.s13 = None # Token
            self.s34 = None # Token
            self.s28 = None # Token
            self._tset1464 = None # Token
            self.of = None # Token
            self.name = None # Token
            self.inner = None # ExpressionContext
            self.cast = None # Token
            self.casted = None # ExpressionTermContext
            self.nested = None # ExpressionContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_expressionTerm




    def expressionTerm(self):

        localctx = PtxParser.ExpressionTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 52, self.RULE_expressionTerm)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 598
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0):
                self.state = 595
                localctx._tset1464 = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0)):
                    localctx._tset1464 = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                localctx.signs.append(localctx._tset1464)
                self.state = 600
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 620
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51, 53, 54, 55]:
                self.state = 603
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53, 54, 55]:
                    self.state = 601
                    localctx.of = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 63050394783186944) != 0)):
                        localctx.of = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [51]:
                    self.state = 602
                    localctx.name = self.match(PtxParser.NAME)
                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 609
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 605
                    self.match(PtxParser.T__15)
                    self.state = 606
                    localctx.inner = self.expression()
                    self.state = 607
                    self.match(PtxParser.T__16)


                pass
            elif token in [16]:
                self.state = 611
                self.match(PtxParser.T__15)
                self.state = 618
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [52]:
                    self.state = 612
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 613
                    self.match(PtxParser.T__16)
                    self.state = 614
                    localctx.casted = self.expressionTerm()
                    pass
                elif token in [13, 14, 16, 28, 34, 51, 53, 54, 55]:
                    self.state = 615
                    localctx.nested = self.expression()
                    self.state = 616
                    self.match(PtxParser.T__16)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





